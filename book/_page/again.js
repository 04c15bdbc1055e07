// An exercise that is due opens as on the first day: the stub, with the reader's former answer folded below it until they have
// passed again or brought it back.
import { element } from "../_reader/element.js";
import { isSolved } from "./course.js";
import { showText } from "./shown.js";
import { againKey, read, replacing, write } from "./store.js";

// `asked`: whether the reader has come to write it again.
export function again(exercise, asked) {
  const { lesson, name, of, codes } = exercise;
  const kept = () => codes.filter((code) => read(againKey(code.key)) !== null);
  if (asked && !kept().length && isSolved(lesson, [name, of])) {
    for (const code of codes.filter(({ changed }) => changed)) {
      if (write(againKey(code.key), code.text)) write(againKey(code.key), null); // it could not be stored, and stays where it is
      else code.reset(false);
    }
  }
  if (!kept().length) return;
  const back = () => {
    for (const code of kept()) {
      code.replace(replacing(code.key, read(againKey(code.key)), code.draft));
      write(againKey(code.key), null);
    }
    fold.remove();
  };
  const fold = element("details", { class: "exercise-again" },
    element("summary", {}, "Your answer of before"),
    ...kept().map((code) => showText(element("pre", { tabindex: 0 }), read(againKey(code.key)))),
    element("div", { class: "page-tools" }, element("button", { type: "button", class: "page-button", onclick: back }, "Bring it back")));
  exercise.end.before(fold);
  exercise.whenPassed = () => {
    for (const code of kept()) write(againKey(code.key), null);
    fold.remove();
  };
}
