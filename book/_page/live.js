// Edit, Run and Stop for the page's code cells. Statements that a cell needs from earlier cells, even hidden ones, run first.
import { element } from "../_reader/element.js";
import { Code, KEYS, Line, Switch } from "./code.js";
import { each } from "./each.js";
import { lessonNotebook, needData, NO_NETWORK, solution, spoiled, stop, Stopped, withPython } from "./python.js";
import { asLoaded } from "./loaded.js";
import { Output } from "./output.js";
import { draftKey, ownCells, read } from "./store.js";
import { filled } from "./work.js";

const SECONDS = 600;
const HERE = new URL(".", import.meta.url);

let page; // all code of the page, including hidden cells: { cells: [...], lessons: [...] }
const source = (name) =>
  (page ??= fetch(new URL(`${name}.cells.json`, HERE)).then((answer) => answer.json()).catch(() => {
    page = undefined;
    throw new Error(NO_NETWORK);
  }));

class Live {
  constructor(box, at, name, all) {
    Object.assign(this, { box, at, name, all });
    const run = () => this.run();
    this.code = new Code(box.querySelector(".cell_input"), `${name}/${at}`, "Code of the page", run, ["Edit", "Edit"]);
    this.switch = new Switch("Run", run, () => stop());
    this.line = new Line();
    this.switch.start.title = KEYS;
    this.switch.start.classList.remove("page-main");
    this.choice = element("button", { type: "button", class: "page-button page-quiet", hidden: true, onclick: () => this.choose() });
    this.code.reset = () => this.reset();
    this.code.isAnew = () => Boolean(this.built);
    this.tools = element("div", { class: "page-tools live-tools" }, this.switch.start, this.switch.halt, this.choice, ...this.code.tools, this.line.box);
    box.querySelector(".cell_input").after(this.tools);
  }

  // Change between the reader's own answers, which a cell calls where they are written, and the course's.
  choose() {
    this.courses = !this.courses;
    this.run();
  }

  // Restore the build's code and output.
  async reset() {
    if (this.built) {
      this.out.remove();
      this.built.forEach((one) => (one.hidden = false));
      this.built = undefined;
    }
    this.line.show();
    await Code.prototype.reset.call(this.code);
  }

  // Replace the build's output by an empty one for the reader's run.
  fresh() {
    this.built ??= [...this.box.querySelectorAll(":scope > .cell_output")].map((one) => ((one.hidden = true), one));
    this.out ??= new Output();
    this.out.clear();
    this.tools.after(this.out.box);
    this.code.buttons();
  }

  async run() {
    if (!this.switch.halt.hidden) return;
    this.switch.busy(true);
    try {
      const { cells, lessons } = await source(this.name);
      const texts = () => cells.map((cell, at) => this.all.find((one) => one.at === at)?.code.text ?? cell);
      const found = await withPython(["python", "grader"], texts, (now, ask, ready) => this.asked(ask, ready, now, lessons), {
        line: this.line,
        out: (text) => this.out.print(text),
        seconds: SECONDS,
      });
      if (found) await this.shown(found);
      else this.refused();
    } catch (error) {
      if (error instanceof Stopped && this.out) this.out.print(`${this.out.text ? "\n" : ""}${error.message}`, "live-error");
      this.line.show({ text: error instanceof Stopped && this.out ? "" : error.message });
    } finally {
      this.switch.busy(false);
    }
  }

  // Remove the output of a former text: this one did not run.
  refused() {
    if (this.built || this.code.changed) this.fresh();
  }

  async asked(ask, ready, cells, lessons) {
    const plan = await ask({ do: "plan", cells, at: this.at, lessons });
    if (plan.elsewhere) {
      const text = `This cell needs ${plan.elsewhere}, which this page does not have. Run it in `;
      this.line.show({ text, link: { words: "this page's notebook", to: "#page-notebook" } });
      return null;
    }
    if (asLoaded(this.name).some((key) => key.includes("/"))) spoiled(); // code of the page that came from a loaded file
    const answers = {};
    const lent = { missing: [], chosen: [], own: [] };
    for (const [slug, names] of plan.answers) {
      // code that ran here earlier could forge the plan to get more of the reader's work than the page's code imports
      if (!lessons.includes(slug) || !cells.some((cell) => cell.includes(slug))) throw new Error(`This page's code does not import ${slug}.`);
      const missing = await unwritten(slug, names);
      if (slug !== this.name && (asLoaded(slug).length || ownCells(slug).length)) spoiled();
      const solved = missing.length || this.courses ? await solution(slug) : null;
      if (missing.length && !solved) {
        this.line.show({ text: `This cell calls ${missing.join(" and ")}, ${missing.length > 1 ? "exercises" : "an exercise"} that you have not written yet.` });
        return null;
      }
      const written = names.filter((name) => !missing.includes(name));
      const own = this.courses && solved ? [] : written;
      lent.missing.push(...missing);
      lent[own.length ? "own" : "chosen"].push(...written);
      answers[slug] = JSON.stringify({ notebook: JSON.stringify(await filled(slug)), own, solved: solved?.module ?? null });
    }
    this.lent = Object.fromEntries(Object.entries(lent).map(([whose, names]) => [whose, [...new Set(names)]]));
    this.choice.hidden = !(this.lent.own.length || this.lent.chosen.length);
    this.choice.textContent = this.lent.chosen.length ? "Use mine" : "Use the course's";
    const lessonsUsed = Object.keys(answers);
    if (plan.numpy || lessonsUsed.length) await ready(["numpy"]);
    if (plan.data || (await needData(lessonsUsed))) await ready(["data"]);
    this.line.show({ text: "Running" });
    this.fresh();
    return ask({ do: "run", cells, at: this.at, answers });
  }

  async shown({ value, picture, error, ran, above }) {
    const said = [];
    if (above) said.push("A cell above, which this one needs, ended in an error.");
    if (ran) said.push(`Ran first what it needs of ${ran} ${ran === 1 ? "cell" : "cells"} above.`);
    const { missing, chosen, own } = this.lent;
    if (own.length) said.push(`Used your ${own.join(" and ")}.`);
    if (chosen.length) said.push(`Used the course's ${chosen.join(" and ")}.`);
    if (missing.length) said.push(`Used the course's ${missing.join(" and ")}: yours ${missing.length > 1 ? "are" : "is"} not written yet.`);
    await this.out.result({ value, picture, error });
    this.line.show({ text: said.join(" ") || (this.out.text ? "" : "It ran, and printed nothing.") });
  }
}

async function unwritten(slug, names) {
  const { cells } = await lessonNotebook(slug);
  const untouched = (cell) => /NotImplementedError/.test(read(draftKey(cell.id)) ?? [cell.source].flat().join(""));
  return names.filter((name) => cells.some((cell) => cell.metadata?.exercise === name && untouched(cell)));
}

export function livePage() {
  const all = [];
  each(".cell[class*='live-cell-']", (box) => {
    const [, at] = box.className.match(/live-cell-(\d+)/);
    const name = document.querySelector("[data-live-page]")?.dataset.livePage ?? location.pathname.split("/").at(-1).replace(/\.html$/, "");
    all.push(new Live(box, Number(at), name, all));
  });
}
