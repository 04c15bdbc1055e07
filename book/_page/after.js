// What stays below an exercise: the course's own way, for readers who have passed or given up, and the next exercise.
import { element } from "../_reader/element.js";
import { titleOf } from "../_reader/title.js";
import { addressOf, isSolved, shortOf, tierOf } from "./course.js";
import { solution } from "./python.js";
import { around, chapterAfter } from "./route.js";
import { showText } from "./shown.js";
import { listen, result, resultKey, write } from "./store.js";

const NONE = "This copy of the book has no solutions.";

const headingOf = (section) => section.querySelector(":scope > :is(h2, h3, h4, h5)");

// The section that teaches the exercise `next`, if it begins below the exercise `name`.
function between(name, next) {
  const section = document.getElementById(next)?.closest("section[id]");
  const heading = section && headingOf(section);
  const follows = heading && document.getElementById(name).compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING;
  return follows ? section : null;
}

function copying(text) {
  const said = element("span", { role: "status", class: "page-quiet" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied.";
    } catch { said.textContent = "This browser does not let a page copy: select the text."; }
  };
  return element("div", { class: "page-tools" }, element("button", { type: "button", class: "page-button", onclick: copy }, "Copy"), said);
}

export class After {
  constructor({ card, lesson, name, of }) {
    Object.assign(this, { lesson, name, of });
    this.box = element("div", { class: "exercise-after" });
    this.give = element("button", { type: "button", class: "page-button", onclick: () => this.giveUp() }, "Show the solution");
    this.said = element("p", { role: "status" });
    this.own = element("details", { class: "exercise-own" }, element("summary", {}, "The course's own way"), element("div"));
    this.own.addEventListener("toggle", () => this.own.open && this.fill());
    card.after(this.box);
    this.show();
    listen((key) => key.startsWith(`result:${lesson}/`) && this.show());
  }

  show() {
    const { shown, hinted } = result(this.lesson, this.name) ?? {};
    const solved = isSolved(this.lesson, [this.name, this.of]);
    const way = solved || shown ? [this.own] : hinted ? [this.give, this.said] : [];
    const parts = [...way, ...(solved || shown ? this.next(solved) : [])];
    if (parts.length !== this.box.children.length || parts.some((one, at) => !one.isEqualNode(this.box.children[at]))) this.box.replaceChildren(...parts);
  }

  // The next exercise of the page, or the next chapter, with what was skipped before it.
  next(solved) {
    const { next, skipped: above, core } = around(this.lesson, this.name);
    const skipped = solved ? above : [...above, this.name];
    const link = (to, ...words) => element("a", { href: to }, ...words);
    const exercise = (name) => link(`#${name}`, element("code", {}, name));
    if (next) {
      const read = between(this.name, next);
      const parts = read ? ["read ", link(`#${read.id}`, ...titleOf(headingOf(read))), ", then "] : [];
      const optional = tierOf(next) === "stretch" ? [" (stretch", ...(core ? ["; the next core exercise is ", exercise(core)] : []), ")"] : [];
      return [element("p", { class: "exercise-next" }, "Next: ", ...parts, exercise(next), ...optional)];
    }
    const chapter = chapterAfter(this.lesson);
    const left = skipped.flatMap((name, at) => [at ? ", " : "", exercise(name)]);
    const parts = left.length ? ["Nothing is left below. Not solved yet: ", ...left, "."] : ["All exercises on this page are solved."];
    if (chapter) parts.push(" Next: ", link(addressOf(chapter.slug), `${shortOf(chapter.slug)}, ${chapter.title}`));
    return [element("p", { class: "exercise-next" }, ...parts)];
  }

  async fill() {
    const place = this.own.lastElementChild;
    if (place.querySelector("pre")) return;
    let found;
    try {
      found = await solution(this.lesson);
    } catch (error) { return place.replaceChildren(element("p", {}, error.message)); } // opening it again tries again
    const { text, why } = found?.exercises[this.name] ?? {};
    place.replaceChildren(...(text ? [showText(element("pre", { tabindex: 0 }), text), copying(text)] : [element("p", {}, NONE)]), ...(why ? [element("p", {}, element("b", {}, "Why. "), why)] : []));
  }

  // The reader wants to see the solution without a pass, which the result says from now on.
  async giveUp() {
    try {
      if (!(await solution(this.lesson))?.exercises[this.name]?.text) return this.give.replaceWith(element("p", {}, NONE));
    } catch (error) {
      this.said.textContent = error.message;
      return;
    }
    this.said.textContent = "";
    write(resultKey(this.lesson, this.name), JSON.stringify({ ...result(this.lesson, this.name), shown: true }));
    this.own.open = true;
    this.own.querySelector("summary").focus();
  }
}
