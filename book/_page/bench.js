// Runs a reader's functions beside their exercise: on the case of a card, in the contract's "To try it", in a scratch cell.
import { element } from "../_reader/element.js";
import { Code, KEYS, Line, Switch } from "./code.js";
import { PRINTED } from "./limits.js";
import { asLoaded } from "./loaded.js";
import { Output } from "./output.js";
import { ageOfTexts, spoiled, stop, Stopped, withPython } from "./python.js";
import { filled } from "./work.js";

const TRYING = 600; // for "To try it", which may train a network on a slow machine
const SCRATCH = 120; // for code of the reader's own, which mostly calls a function or two; a loop without an end is stopped
const A_CASE = 45; // for a call, which Python itself ends after ten seconds
const START = (name) => `# Your answers are defined here: call ${name}, and print what you like.\n`;

// Whether a cell of the reader's loads the digits, whose archive comes only with exercises that need it.
export const loadsDigits = (notebook) =>
  JSON.parse(notebook).cells.some((cell) => cell.cell_type === "code" && [cell.source].flat().join("").includes("load_digits"));

// A button that runs something with the reader's answers, and what came of it below.
class Run {
  // `asks()`: the worker's action and what it gets beside the answers.
  constructor(exercise, words, asks, seconds) {
    Object.assign(this, { exercise, asks, seconds });
    this.switch = new Switch(words, () => this.run(), () => stop());
    this.switch.start.classList.remove("page-main");
    this.line = new Line();
    this.out = new Output();
    this.tools = element("div", { class: "page-tools live-tools" }, this.switch.start, this.switch.halt, this.line.box);
  }

  async run() {
    if (!this.switch.halt.hidden) return;
    this.switch.busy(true);
    this.out.clear();
    const { lesson, name } = this.exercise;
    try {
      const found = await withPython(
        ["python", "numpy", "grader"],
        async () => JSON.stringify(await filled(lesson)),
        async (notebook, ask, ready) => {
          const asked = this.asks();
          if (asLoaded(lesson).some((key) => key.includes("/"))) spoiled(); // the cell itself may be of a loaded file
          if (loadsDigits(notebook) || asked.code?.includes("load_digits")) await ready(["data"]);
          return ask({ ...asked, lesson, exercise: name, notebook });
        },
        { line: this.line, out: (text) => this.out.print(text), seconds: this.seconds },
      );
      if (found.lines) this.out.compared(found.lines);
      else await this.out.result(found);
      if (found.line) this.exercise.markLine(found.line);
      this.line.show({ text: this.out.text ? "" : "It ran, and printed nothing." });
    } catch (error) {
      if (error instanceof Stopped) this.out.print(`${this.out.text ? "\n" : ""}${error.message}`, "live-error");
      this.line.show({ text: error instanceof Stopped ? "" : error.message });
    } finally {
      this.switch.busy(false);
    }
  }
}

// Run for each piece of code in an exercise's text.
export function tryIts(exercise) {
  for (const pre of exercise.section.querySelectorAll(".exercise-contract .highlight pre")) {
    const code = pre.textContent;
    const one = new Run(exercise, "Run", () => ({ do: "scratch", code }), TRYING);
    pre.closest(".highlight").parentElement.after(one.tools, one.out.box);
  }
}

// A cell below the exercise that is kept in this browser, and is no part of the notebook.
export function scratchCell(exercise) {
  const { lesson, name, section } = exercise;
  const pre = element("pre", {}, START(name));
  const still = element("div", { class: "page-still" }, element("div", { class: "highlight" }, pre));
  const one = new Run(exercise, "Run", () => ({ do: "scratch", code: code.text }), SCRATCH);
  const code = new Code(still, `scratch/${lesson}/${name}`, `Scratch cell of ${name}`, () => one.run(), ["Write", "Go on writing"]);
  one.switch.start.title = KEYS;
  still.addEventListener("click", () => getSelection().toString() || code.open());
  one.switch.start.after(...code.tools.filter((tool) => tool !== code.comparing));
  const fold = element("details", { class: "exercise-scratch" }, element("summary", {}, "Scratch cell"));
  section.append(fold);
  fold.append(still, one.tools, one.out.box);
  still.after(code.unkept);
}

// Run this case: only while no text was replaced, because other code may have said what the case is. The exercise hides the
// button then; a run that was waiting for Python is refused.
export function caseOf(exercise, given) {
  const age = ageOfTexts();
  const one = new Run(exercise, "Run this case", () => {
    if (age !== ageOfTexts()) throw new Error("The answer was replaced: check it again.");
    return { do: "look", case: given };
  }, A_CASE);
  return element("div", { class: "exercise-case" }, one.tools, one.out.box);
}

// What an answer printed during a check, folded.
export class Printed {
  constructor() {
    this.out = new Output(PRINTED);
    this.box = element("details", { class: "exercise-printed" }, element("summary", {}, "Printed during the check"), this.out.box);
  }
  add(text) { this.out.print(text); }
  get any() { return Boolean(this.out.text.trim()); }
}
