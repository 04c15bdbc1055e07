// The reader's progress: on the front page a line for each chapter, in a chapter a line at its top.
import { element } from "../_reader/element.js";
import { CheckAll } from "./checkall.js";
import { dueNow } from "../_reader/dues.js";
import { chapters } from "./course.js";
import { everythingTools, fetched } from "./everything_tools.js";
import { asLoaded, loadedKey } from "./loaded.js";
import { chooser, loadPlanned } from "./loading.js";
import { listOf } from "./marks.js";
import { whereToGoOn } from "./route.js";
import { showText } from "./shown.js";
import { inWords, standing } from "./standing.js";
import { afresh } from "./python.js";
import { formerKeys, formers, listen, ownCells, ownCellsKey, problem, replacing, undoing, unreadable, write } from "./store.js";
import { planOf, save } from "./work.js";

export function chapter(box) {
  const { lesson } = box.dataset;
  const exercises = JSON.parse(box.dataset.exercises);
  const words = element("span");
  const said = element("span", { role: "status", class: "page-quiet" });
  const button = (text, onclick) => element("button", { type: "button", class: "page-button page-quiet", onclick }, text);
  const own = element("div", { class: "page-small page-own", hidden: true });
  const strange = element("p", { class: "page-unkept", role: "status" });
  const undo = button("Undo", () => replace(undoing(key)));
  undo.title = "Bring back the cells of your own that were replaced or left out";
  const key = ownCellsKey(lesson);
  const replace = (entries) => {
    entries.forEach(([one, text]) => write(one, text));
    afresh();
  };
  const loadedAnswers = () => asLoaded(lesson).filter((one) => !one.includes("/")); // without code of the page
  let shown, before = [];
  const showOwn = () => {
    const cells = ownCells(lesson), answers = loadedAnswers();
    // The reader has replaced a loaded answer. Its code may have changed the running Python, so the next check starts a new one.
    if (before.some((key) => !answers.includes(key))) afresh();
    before = answers;
    const now = JSON.stringify([cells, answers.length]);
    if (now !== shown) runsToo(cells, answers); // an unchanged list is not rebuilt, so that it stays open
    shown = now;
    undo.hidden = !formers(key).length;
    undo.textContent = cells.length ? "Undo: your former cells" : "Undo: your cells";
  };
  // Warn about code from a loaded file, because it runs with every check and can forge the result.
  const runsToo = (cells, answers) => {
    const counted = [[cells, "cell"], [answers, "answer"]].filter(([all]) => all.length).map(([all, what]) => `${all.length} ${what}${all.length === 1 ? "" : "s"}`);
    const runs = cells.length + answers.length === 1 ? "runs" : "run";
    own.hidden = !counted.length;
    if (own.hidden) return own.replaceChildren();
    own.replaceChildren(
      element("p", {}, `${counted.join(" and ")} of a loaded file ${runs} with each check. `,
        ...(cells.length ? [button(cells.length === 1 ? "Leave it out" : "Leave them out", () => replace(replacing(key, null)))] : []), " ",
        ...(answers.length ? [button(answers.length === 1 ? "Reset the answer" : "Reset the answers", () => replace(loadedAnswers().flatMap((one) => replacing(one, null))))] : [])),
      ...(cells.length ? [element("details", {}, element("summary", {}, "What your notebook has beside the exercises' cells: it is saved with your work."), ...cells.map(({ source }) => showText(element("pre", { tabindex: 0 }), source)))] : []),
    );
  };
  const show = (changed) => {
    words.textContent = `Exercises on this page: ${inWords(standing(lesson, exercises))}.`;
    if (changed === undefined || changed.startsWith("draft:") || [key, loadedKey(lesson), ...formerKeys(key)].includes(changed)) showOwn();
    const found = unreadable(lesson, exercises.map(([name]) => name));
    strange.replaceChildren(...(found.length ? [
      `This browser has stored what no page of this course writes, for ${found.map(([, name]) => name).join(", ")}. It is set aside. `,
      button("Delete it", () => found.forEach(([one]) => write(one, null))),
    ] : [problem(key)]));
  };
  const tell = async (work) => {
    try {
      said.textContent = (await work()) ?? "";
    } catch ({ message, link }) {
      said.replaceChildren(message, ...(link ? [element("a", { href: link.to }, link.words), "."] : []));
    }
  };
  const place = element("div"), checking = new CheckAll();
  // Loading runs nothing; one click checks all that was loaded.
  const offerCheck = (names) => {
    const words = names.length === 1 ? "Check it" : `Check all ${names.length}`;
    const check = element("button", { type: "button", class: "page-button page-main", onclick: () => {
      if (checking.running) return; // the offer stays until that has ended
      place.replaceChildren();
      checking.run(names);
    } }, words);
    place.replaceChildren(element("div", { class: "page-offer" }, check));
    check.focus();
  };
  const load = chooser("Load", ".ipynb,application/x-ipynb+json,.json", async (file) => {
    const plan = await planOf(lesson, file);
    const done = await loadPlanned(place, plan);
    const names = plan.names.filter((name) => exercises.some(([one]) => one === name)); // those on this page
    if (names.length && done.startsWith("Loaded")) offerCheck(names);
    return done;
  }, tell);
  box.append(
    element("p", {}, words, " ", button("Save my work", () => tell(() => save(lesson))), " ", ...load, " ", undo, " ", checking.button, " ", said),
    place,
    checking.said,
    strange,
    element("details", { class: "page-small" },
      element("summary", {}, "Write and check them where they stand, for learning: it gives no credit."),
      element("p", {}, "Python runs in this browser, and nothing is sent anywhere. Your work is saved as the notebook of the chapter's exercises, which can be handed in."),
    ),
    element("details", { class: "page-small" }, element("summary", {}, "All exercises of this page, with your marks"), listOf(lesson, exercises)),
    element("details", { class: "page-small" }, element("summary", {}, "One file for all chapters: your answers, results, choices and place"), ...everythingTools()),
    own,
  );
  show();
  listen(show);
}

let printing = false; // a second press while the first is fetched prints nothing more
async function printed({ target }) {
  if (printing) return;
  printing = true;
  try { (await fetched(() => import("./record.js"))).printRecord(); } catch (error) { target.after(` ${error.message}`); }
  printing = false;
}

export function front(box) {
  const list = element("div");
  box.hidden = false;
  box.append(list, ...everythingTools("One file for all chapters, with your answers, results, choices and place: "));
  const start = document.querySelector(".front-start a");
  const due = element("a", { class: "front-due", href: "due.html", hidden: true });
  start?.after(" ", due);
  const show = () => {
    const goOn = whereToGoOn();
    if (goOn && start) {
      start.textContent = goOn.words;
      start.href = goOn.to;
    }
    const begun = chapters.map((one) => ({ ...one, ...standing(one.slug, one.exercises) })).filter((one) => one.tried);
    const count = dueNow().length;
    due.textContent = count ? `${count} due today` : "";
    due.hidden = !count;
    list.replaceChildren(
      ...(count ? [element("p", {}, element("a", { href: "due.html" }, `${count} due today`), ": questions, predictions and exercises that you knew once.")] : []),
      ...(!begun.length ? [] : [
      element("p", { class: "page-head" }, "Where you are"),
      element("ul", {}, ...begun.map((one) => element("li", {}, element("a", { href: `${one.slug}.html` }, one.title), `: ${inWords(one)}`))),
      ...(begun.some(({ solved }) => solved) ? [element("p", {}, element("button", { type: "button", class: "page-button page-quiet", onclick: printed }, "Print a record"), element("span", { class: "page-quiet" }, " of what you have solved, for yourself: it gives no credit."))] : []),
    ]));
  };
  show();
  listen(show);
}
