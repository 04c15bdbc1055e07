// An exercise that is due opens as on the first day: the stub, with the reader's former answer folded below it until they have
// passed again or brought it back.
import { element } from "../_reader/element.js";
import { isSolved } from "./course.js";
import { read, replacing, write } from "./store.js";

export const againKey = (code) => code.key.replace(/^draft:/, "again:");

// `asked`: whether the reader has come to write it again.
export function again(exercise, asked) {
  const { lesson, name, of, codes } = exercise;
  const kept = () => codes.filter((code) => read(againKey(code)) !== null);
  if (asked && !kept().length && isSolved(lesson, [name, of])) {
    for (const code of codes.filter(({ changed }) => changed)) {
      if (!write(againKey(code), code.text)) code.reset(); // what could not be stored stays where it is
    }
  }
  if (!kept().length) return;
  const back = () => {
    for (const code of kept()) {
      code.replace(replacing(code.key, read(againKey(code)), code.draft));
      write(againKey(code), null);
    }
    fold.remove();
  };
  const fold = element("details", { class: "exercise-again" },
    element("summary", {}, "Your answer of before"),
    ...kept().map((code) => element("pre", { tabindex: 0 }, read(againKey(code)))),
    element("div", { class: "page-tools" }, element("button", { type: "button", class: "page-button", onclick: back }, "Bring it back")));
  exercise.end.before(fold);
  exercise.whenPassed = () => {
    for (const code of kept()) write(againKey(code), null);
    fold.remove();
  };
}
