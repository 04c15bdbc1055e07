// Makes a page's exercises and code cells interactive. Python is fetched only when a reader uses it.
import { each } from "./each.js";
import { Exercise } from "./exercise.js";
import { livePage } from "./live.js";
import { chapter, front } from "./progress.js";
import { afresh } from "./python.js";
import { rulesIn } from "./rules.js";
import { listen } from "./store.js";

each(".exercise[data-exercise]", (section) => new Exercise(section));
each(".exercise-all", rulesIn);
each(".page-progress[data-lesson]", chapter);
each(".page-progress[data-lessons]", front);
livePage();
listen((key, _, elsewhere) => elsewhere && /^(?:draft|own):/.test(key) && afresh()); // a file loaded in another tab
document.documentElement.dataset.cells = "ready";
