// What makes a page's exercises and code live. Nothing of Python is fetched before a reader asks for it.
import { Exercise } from "./exercise.js";
import { livePage } from "./live.js";
import { chapter, front } from "./progress.js";

for (const section of document.querySelectorAll(".exercise[data-exercise]")) new Exercise(section);
for (const box of document.querySelectorAll(".page-progress[data-lesson]")) chapter(box);
for (const box of document.querySelectorAll(".page-progress[data-lessons]")) front(box);
livePage();
document.documentElement.dataset.cells = "ready";
