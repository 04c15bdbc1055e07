// Marks of the reader's exercises, at their heads, in the list at a chapter's top and in the table at its end.
import { element } from "../_reader/element.js";
import { chapterOf, tierOf } from "./course.js";
import { listen, result } from "./store.js";

// The mark of an exercise in words; "" if nothing was tried.
export function markOf(lesson, name, of) {
  const { status, best, shown } = result(lesson, name) ?? {};
  if (best >= of) return shown ? "✓ solved with the solution" : "✓ solved";
  return !status || status === "missing" ? (shown ? "solution shown" : "") : `${best} of ${of} points so far`;
}

const tier = (name) => (tierOf(name) ? [element("span", { class: "page-quiet" }, tierOf(name)), " "] : []);

// The exercises of a chapter as a list of links, each with its mark.
export function listOf(lesson, exercises) {
  const marks = exercises.map(([name, of, title]) => {
    const mark = element("span", { class: "exercise-mark" });
    return { name, of, mark, item: element("li", {}, element("a", { href: `#${name}` }, element("code", {}, name)), title ? ` ${title} ` : " ", ...tier(name), mark) };
  });
  follow(lesson, marks);
  return element("ol", { class: "page-exercises" }, ...marks.map(({ item }) => item));
}

// Make a chapter's table of exercises lead to those of its page, and add the reader's marks.
export function markTable(table) {
  const lesson = document.querySelector(".page-progress[data-lesson]")?.dataset.lesson;
  const exercises = new Map(chapterOf(lesson)?.exercises);
  const marks = [];
  for (const row of table.querySelectorAll("tbody tr")) {
    const code = row.cells[0]?.querySelector("code");
    const name = code?.textContent;
    if (!code || !row.querySelector("a")) continue;
    const mark = element("span", { class: "exercise-mark" }); // in the first column, which a phone shows
    row.cells[0].append(" ", mark);
    if (!exercises.has(name)) { mark.textContent = "in the notebook"; continue; }
    const link = element("a", { href: `#${name}` });
    code.replaceWith(link);
    link.append(code);
    marks.push({ name, of: exercises.get(name), mark });
  }
  follow(lesson, marks);
}

function follow(lesson, marks) {
  const show = () => marks.forEach(({ name, of, mark }) => (mark.textContent = markOf(lesson, name, of)));
  show();
  listen((key) => key.startsWith(`result:${lesson}/`) && show());
}
