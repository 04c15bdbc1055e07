// The reader's progress beside each chapter with exercises in the side bar.
import { chapterOf } from "./course.js";
import { reach } from "./reach.js";
import { inWords, standing } from "./standing.js";
import { listen } from "./store.js";

const marks = [];
for (const link of document.querySelectorAll("nav.bd-links a.reference.internal")) {
  const name = new URL(link.href, location.href).pathname.split("/").at(-1).replace(/\.html$/, "");
  const lesson = chapterOf(name);
  if (!lesson) continue;
  const seen = Object.assign(document.createElement("span"), { className: "page-nav" });
  const read = Object.assign(document.createElement("span"), { className: "visually-hidden" });
  seen.setAttribute("aria-hidden", "true");
  link.append(seen, read);
  marks.push({ ...lesson, seen, read });
}

function show() {
  for (const { slug, exercises, seen, read } of marks) {
    const found = standing(slug, exercises);
    seen.textContent = !found.tried ? "" : found.solved === found.all ? "\u2713" : `${found.solved}/${found.all}`;
    seen.title = found.tried ? inWords(found) : "";
    read.textContent = found.tried ? ` (${inWords(found)})` : "";
  }
}
show();
listen(show);
reach();
