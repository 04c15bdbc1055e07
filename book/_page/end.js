// The box at a chapter's end: what the reader has solved, what is left, and what comes next.
import { chosenIn } from "../_reader/kept.js";
import { element } from "../_reader/element.js";
import { counted } from "../_reader/words.js";
import { addressOf, chapterOf, isSolved, shortOf } from "./course.js";
import { chapterAfter } from "./route.js";
import { listen } from "./store.js";

const MANY = 6;

export function endOf(box) {
  const lesson = box.dataset.end;
  const { exercises } = chapterOf(lesson);
  const quizzes = [...document.querySelectorAll(".quiz[id]")].map(({ id }) => id);
  // With the titles of their sections, unless there are many.
  const listed = (all) => all.flatMap(([name, , title], at) => [
    at ? (all.length > MANY ? ", " : "; ") : "", element("a", { href: `#${name}` }, element("code", {}, name)), ...(title && all.length <= MANY ? [` (${title})`] : [])]);
  const show = () => {
    const solved = exercises.filter((one) => isSolved(lesson, one)), left = exercises.filter((one) => !isSolved(lesson, one));
    const unasked = quizzes.filter((id) => !chosenIn(lesson, id));
    const due = [
      ...(left.length ? [element("a", { href: `#${left[0][0]}` }, element("code", {}, left[0][0]))] : []),
      ...(unasked.length ? [element("a", { href: `#${unasked[0]}` }, counted(unasked.length, "question"), " without your answer")] : []),
    ];
    const after = chapterAfter(lesson);
    if (after) due.push(element("a", { href: addressOf(after.slug) }, `${shortOf(after.slug)}, ${after.title}`));
    const line = (head, parts) => element("p", {}, element("b", {}, `${head} `), ...parts, ".");
    box.replaceChildren(
      element("p", { class: "page-head" }, left.length ? `${solved.length} of ${counted(exercises.length, "exercise")} on this page solved` : "All exercises on this page solved"),
      ...(solved.length ? [line("You can now write:", listed(solved))] : []),
      ...(left.length ? [line("Not solved yet:", listed(left))] : []),
      ...(due.length ? [line("Next:", due.flatMap((one, at) => [at ? ", then " : "", one]))] : []),
    );
  };
  show();
  listen((key) => /^(?:result|quiz):/.test(key) && show());
}
