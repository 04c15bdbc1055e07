// Makes a page's exercises and code cells interactive. Python is fetched when a reader opens an editor or
// runs something.
import { exercises } from "./checkall.js";
import { each } from "./each.js";
import { endOf } from "./end.js";
import { Exercise } from "./exercise.js";
import { livePage } from "./live.js";
import { markTable } from "./marks.js";
import { chapter, front } from "./progress.js";
import { afresh } from "./python.js";
import { rulesIn } from "./rules.js";
import { againKey, listen, read } from "./store.js";

each(".exercise[data-exercise]", (section) => exercises.push(new Exercise(section)));
const due = new URLSearchParams(location.search).get("again"); // the page "Due today" has led here
for (const one of exercises) {
  const asked = one.name === due;
  if (asked || one.codes.some(({ key }) => read(againKey(key)) !== null)) import("./again.js").then(({ again }) => again(one, asked)).catch(() => {});
}
each(".exercise-all", rulesIn);
each(".page-progress[data-lesson]", chapter);
each(".page-progress[data-lessons]", front);
each("#exercises table", markTable);
each(".page-end[data-end]", endOf);
livePage();
listen((key, _, elsewhere) => elsewhere && /^(?:draft|own):/.test(key) && afresh()); // a file loaded in another tab
document.documentElement.dataset.cells = "ready";
