// An exercise in its section: editors for its cells, the button Check, and the result's card.
import { noteAnswer } from "../_reader/dues.js";
import { element } from "../_reader/element.js";
import { After } from "./after.js";
import { caseOf, loadsDigits, Printed, scratchCell, tryIts } from "./bench.js";
import { cardOf, pointsInWords, statusInWords, withoutBackticks } from "./card.js";
import { Code, KEYS, Line, Switch } from "./code.js";
import { asLoaded } from "./loaded.js";
import { markOf } from "./marks.js";
import { ageOfTexts, giveWay, NO_NETWORK, stop, Stopped, warm, whenReplaced, withPython } from "./python.js";
import { reachable } from "./reach.js";
import { worksOn } from "./route.js";
import { againKey, listen, ownCells, problem, read, result, resultKey, write } from "./store.js";
import { filled } from "./work.js";

const SECONDS = 45; // without news from a check, on a slow machine; most cases take a tenth of a second
const THRICE = 3;
const AT_ONCE = 500; // ms that a card waits for the search for a repair; a longer one amends the card
const LOOKING = "looking for the smallest change that makes it right"; // as in judging/repair.py
const NOT_SOUGHT = "The search for the smallest change was stopped.";
const NOT_FETCHED = "What looks for the smallest change could not be fetched: is there a network?";
const UNTOUCHED = "Nothing is written here yet.";
const INSTEAD = "Replace `raise NotImplementedError(…)` with your own code, and check it then.";
const BEFORE = "This is about the text that stood here before.";
const FORMER = "This is about what stood here when the check began. It has changed since, and this is not counted: check it again.";

export class Exercise {
  constructor(section) {
    const { lesson, exercise, points, tier } = section.dataset;
    Object.assign(this, { section, lesson, name: exercise, of: Number(points), tier, mistakes: new Map() });
    const check = () => this.check();
    this.hints = new Set(); // summaries of the hints that are open: a check replaces the card, and leaves them open
    this.codes = [...section.querySelectorAll(".exercise-part")].map((part, at, all) => {
      const still = part.querySelector(".highlight").parentElement;
      const checkHere = all.length > 1 ? () => this.check(code) : check;
      const code = new Code(still, part.dataset.cell, part.dataset.label, checkHere, ["Write", "Go on writing"]);
      code.whenOpened = () => warm(this.parts);
      still.addEventListener("click", (event) => event.target.closest("button") || getSelection().toString() || code.open());
      still.classList.add("page-still");
      code.part = part;
      part.id = `part-${part.dataset.cell}`;
      return code;
    });
    this.parts = ["python", "numpy", "grader", lesson, `${lesson}/${exercise}`];
    this.switch = this.whole = new Switch("Check", check, () => stop());
    this.line = new Line();
    this.card = element("div", { class: "exercise-card" });
    this.said = element("p", { class: "visually-hidden", role: "status" }); // summary of the card for screen readers
    section.querySelector(".exercise-elsewhere").hidden = true;
    const [only, another] = this.codes; // a single cell's buttons go beside Check
    if (another) for (const code of this.codes) {
      code.switch = new Switch("Check", () => this.check(code), () => stop());
      code.part.append(element("div", { class: "page-tools" }, code.switch.start, code.switch.halt, ...code.tools));
    }
    this.end = element("div", { class: "page-tools" }, this.switch.start, this.switch.halt, ...(another ? [] : only.tools), this.line.box);
    section.append(this.end, this.said, this.card);
    for (const one of [this.whole, ...(another ? this.codes.map((code) => code.switch) : [])]) one.start.title = KEYS;
    scratchCell(this);
    tryIts(this);
    this.card.addEventListener("toggle", (event) => this.counted(event.target), true);
    this.after = new After(this);
    this.mark();
    const keys = this.codes.map(({ key }) => key);
    listen((key, _, elsewhere) => !elsewhere && keys.includes(key) && this.worksHere());
    listen((key) => key === resultKey(lesson, exercise) && this.mark());
    this.former = element("p", { class: "exercise-former" }, BEFORE);
    whenReplaced(() => {
      this.former.hidden = this.judged === this.texts();
      this.card.querySelectorAll(".exercise-case > .page-tools").forEach((one) => (one.hidden = true));
    });
  }

  // The card stands below the part where somebody pressed Check, or at the exercise's end.
  at(code) {
    this.switch = code?.switch ?? this.whole;
    const tools = code?.part.querySelector(":scope > .page-tools") ?? this.end;
    if (this.line.box.parentElement === tools) return;
    tools.append(this.line.box);
    tools.after(this.said, this.card, this.after.box);
  }

  // Continue leads here, unless the reader repeats what was due: then it leads on from where they were before.
  worksHere() {
    if (this.codes.every(({ key }) => read(againKey(key)) === null)) worksOn(this.lesson, this.name);
  }

  get written() { return this.codes.some(({ changed }) => changed); }
  halt() { if (!this.switch.halt.hidden) stop(); }

  // Check the answer, at the part `code` if given; `quiet`: without scrolling to the card. Returns the status, or undefined if
  // there is none. While a repair is looked for, the card is there: another check ends the search. A quiet one has none.
  async check(code, how) {
    if (this.looking) {
      stop();
      await this.looking;
    }
    if (!this.switch.halt.hidden) return undefined;
    return this.written || ownCells(this.lesson).length ? this.checked(code, how) : this.untouched(code);
  }

  // Nothing is written: that needs no Python, which takes long to start. It has the hints, for readers who want them.
  untouched(code) {
    this.at(code);
    this.worksHere();
    this.markLine(null);
    this.line.show();
    const hints = element("button", { type: "button", class: "page-button page-quiet", onclick: () => this.checked(code) }, "Show hints");
    const said = { cause: UNTOUCHED, rest: INSTEAD };
    this.card.replaceChildren(cardOf({ status: "missing", points: 0, blocks: [said] }, this), element("p", {}, hints));
    this.said.textContent = `${this.name}: ${UNTOUCHED} ${withoutBackticks(INSTEAD)}`;
    return "missing";
  }

  async checked(code, { quiet = false } = {}) {
    this.at(code);
    this.switch.busy(true);
    this.worksHere();
    this.card.replaceChildren();
    this.said.textContent = "";
    this.markLine(null);
    const printed = new Printed();
    let shown;
    const show = (found) => {
      if (shown) return this.amend(found, shown);
      this.show((shown = found), quiet);
      if (printed.any) this.card.append(printed.box);
    };
    try {
      const began = performance.now();
      const found = await withPython(
        this.parts,
        async () => ({ notebook: JSON.stringify(await filled(this.lesson)), judged: this.texts(), age: ageOfTexts() }),
        async ({ notebook, judged, age }, ask, ready) => {
          if (loadsDigits(notebook)) await ready(["data"]);
          const answer = await ask({ do: "check", lesson: this.lesson, exercise: this.name, notebook });
          this.judged = judged;
          const first = { ...answer, stands: age === ageOfTexts() && judged === this.texts() };
          this.section.dataset.ms = Math.round(performance.now() - began);
          if (!first.more || !first.stands || quiet) return first;
          return this.searched(ask, ready, () => show(first)).then(
            (more) => ({ ...(more.error ? answer : more), stands: age === ageOfTexts() }), // it is about the text of the card
            (error) => { throw Object.assign(error, { first }); },
          );
        },
        { line: this.line, out: (text) => printed.add(text), seconds: SECONDS },
      );
      show(found);
      if (!found.error) this.line.show({ text: problem() }); // a message if the result was not stored
      return shown.stands ? found.status : undefined;
    } catch (error) {
      if (!error.first) {
        this.line.show({ text: error.message });
        if (printed.any) this.card.append(printed.box);
        return undefined;
      }
      if (!shown) show(error.first);
      this.line.show({ text: problem() || (error instanceof Stopped ? NOT_SOUGHT : error.message === NO_NETWORK ? NOT_FETCHED : error.message) });
      return error.first.status;
    } finally {
      this.switch.busy(false);
    }
  }

  // Look for the smallest change of the reader's own code that makes it right. `late` is called if that takes a while: the
  // reader has the card at once, and the line says what is being done. Returns the better card, or one with an error.
  async searched(ask, ready, late) {
    const timer = setTimeout(late, AT_ONCE);
    let over;
    this.looking = new Promise((done) => (over = done));
    this.section.dataset.looking = "";
    try {
      giveWay(true);
      this.line.show({ text: `${this.name}: ${LOOKING}` });
      await ready(["repairs"], () => {});
      return await ask({ do: "repair", lesson: this.lesson, exercise: this.name });
    } finally {
      giveWay(false);
      clearTimeout(timer);
      delete this.section.dataset.looking;
      this.looking = undefined;
      setTimeout(over); // after the switch is free again
    }
  }

  // Mark the line of the editors that a message is about; null removes the mark.
  markLine(place) {
    this.codes.forEach((code, at) => code.mark(place?.part === at + 1 ? place.line : null));
  }

  texts() { return JSON.stringify(this.codes.map(({ text }) => text)); }

  // Where to write next, if all is right that is written and the reader has not asked about a part that is not.
  onward(found) {
    const next = found.next && this.codes.find(({ label }) => label.endsWith(`, ${found.next}`));
    return next && next.switch !== this.switch ? { to: `#${next.part.id}`, words: found.next } : undefined;
  }

  show(found, quiet) {
    if (found.error) return this.line.show({ text: found.error });
    this.told = found; // what the card says now
    this.card.replaceChildren(cardOf(found, this, this.onward(found)));
    this.card.querySelectorAll("details").forEach((one) => (one.open = this.hints.has(one.firstElementChild.textContent)));
    // code that was replaced during the check may have said what the case is, and must not reach a new Python
    if (found.case && found.stands) this.card.append(caseOf(this, found.case));
    if (found.status !== "passed") this.card.append(element("p", {}, element("button", { type: "button", class: "page-button page-quiet", onclick: () => this.report(this.told) }, "This message is wrong")));
    if (this.judged === this.texts()) this.markLine(found.line); // a reader may have gone on typing
    if (!found.stands) {
      this.card.prepend(element("p", { class: "exercise-former" }, FORMER));
      this.said.textContent = `${this.name}: ${FORMER}`;
      return;
    }
    this.former.hidden = true;
    this.card.prepend(this.former);
    this.codes.forEach((code) => code.wasChecked(found.status === "passed"));
    this.count(found.misconception);
    this.keep(found);
    if (!quiet) this.said.textContent = `${this.name}: ${statusInWords(found.status)}, ${pointsInWords(Math.min(found.points, this.of), this.of)}. ${withoutBackticks(found.message.split("\n")[0])}`;
    reachable(this.section);
    if (!quiet) this.card.querySelector(".card-line").scrollIntoView({ block: "nearest" }); // it may be below the visible part
  }

  // Replace the card `first` by one that says more; details that are open stay open.
  amend(found, first) {
    if (!found.stands || found.message === first.message) return;
    this.told = found;
    const before = this.card.querySelector(":scope > .card-line"), after = cardOf(found, this, this.onward(found));
    const nameOf = (one) => one.firstElementChild.textContent;
    const [was, is] = [before, after].map((line) => new Map([...line.querySelectorAll("details")].map((one) => [nameOf(one), one])));
    const held = [...was.values()].find((one) => one.firstElementChild === document.activeElement);
    was.forEach((one, name) => is.has(name) && (is.get(name).open = one.open));
    before.replaceWith(after);
    if (held) is.get(nameOf(held))?.firstElementChild.focus();
    if (found.case !== first.case) {
      this.card.querySelector(":scope > .exercise-case")?.remove();
      if (found.case) after.after(caseOf(this, found.case));
    }
    if (this.judged === this.texts()) this.markLine(found.line);
    if (found.misconception !== first.misconception) this.count(found.misconception);
    this.keep(found);
    this.said.textContent = `${this.name}: ${withoutBackticks(found.message.split("\n")[0])}`;
    reachable(this.section);
  }

  // Count how often a mistake was named.
  count(name) {
    if (name) this.mistakes.set(name, (this.mistakes.get(name) ?? 0) + 1);
    if (!name || this.mistakes.get(name) < THRICE) return;
    const title = this.section.closest("section[id]");
    this.card.append(element("p", {}, "The same mistake for the third time: ", element("a", { href: `#${title.id}` }, "read the section again"), " before you go on."));
  }

  // Store the result.
  keep(found) {
    const before = result(this.lesson, this.name) ?? {};
    const points = Math.min(found.points, this.of);
    // code from a loaded file can claim any points, so they count only until a check runs without that code
    const loaded = asLoaded(this.lesson).length + ownCells(this.lesson).length > 0;
    const best = Math.max(before.loaded && !loaded ? 0 : before.best ?? 0, points);
    write(resultKey(this.lesson, this.name), JSON.stringify({ ...before, status: found.status, points, of: this.of, best, loaded, misconception: found.misconception }));
    if (found.status === "passed") this.whenPassed?.();
    if (best >= this.of) noteAnswer(this.lesson, this.name, true);
    this.section.dataset.status = found.status;
  }

  // Have the page's dialog for reports (_reader/reports.js) write to the course's authors about a message.
  report({ status, message }) {
    const code = this.codes.map(({ text }) => text).join("\n\n");
    document.dispatchEvent(new CustomEvent("backprop:report", { detail: { exercise: `${this.lesson}/${this.name}`, status, message, code } }));
  }

  // Store how many hints were opened, and whether all hints were opened; each is nested in the one before.
  counted(details) {
    const said = details.querySelector("summary")?.textContent ?? "";
    if (/^Hint /.test(said)) this.hints[details.open ? "add" : "delete"](said);
    const [, asked, all] = said.match(/^Hint (\d{1,2}) of (\d{1,2})\b/)?.map(Number) ?? [];
    if (!details.open || !asked) return;
    const before = result(this.lesson, this.name) ?? {};
    const hinted = before.hinted || asked === all;
    write(resultKey(this.lesson, this.name), JSON.stringify({ ...before, hints: Math.max(before.hints ?? 0, asked), hinted }));
  }

  mark() {
    this.section.querySelector(".exercise-mark").textContent = markOf(this.lesson, this.name, this.of);
  }
}
