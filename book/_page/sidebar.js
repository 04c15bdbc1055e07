// The reader's progress beside each chapter with exercises in the side bar, and how much is due today.
import { dueNow } from "../_reader/dues.js";
import { chapterOf } from "./course.js";
import { reach } from "./reach.js";
import { inWords, standing } from "./standing.js";
import { listen } from "./store.js";

const marks = [];
const marked = (link) => {
  const seen = Object.assign(document.createElement("span"), { className: "page-nav" });
  const read = Object.assign(document.createElement("span"), { className: "visually-hidden" });
  seen.setAttribute("aria-hidden", "true");
  link.append(seen, read);
  return { seen, read };
};
let due;
for (const link of document.querySelectorAll("nav.bd-links a.reference.internal")) {
  const name = new URL(link.href, location.href).pathname.split("/").at(-1).replace(/\.html$/, "");
  const lesson = chapterOf(name);
  if (lesson) marks.push({ ...lesson, ...marked(link) });
  else if (name === "due") due = marked(link);
}

function show() {
  for (const { slug, exercises, seen, read } of marks) {
    const found = standing(slug, exercises);
    seen.textContent = !found.tried ? "" : found.solved === found.all ? "\u2713" : `${found.solved}/${found.all}`;
    seen.title = found.tried ? inWords(found) : "";
    read.textContent = found.tried ? ` (${inWords(found)})` : "";
  }
  const waiting = due && dueNow().length;
  if (due) [due.seen.textContent, due.read.textContent] = waiting ? [String(waiting), ` (${waiting} due)`] : ["", ""];
}
show();
listen(show);
reach();
