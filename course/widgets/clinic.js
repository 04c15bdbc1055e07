/* An experiment to steer: broken training runs. The reader chooses tests, reads their outcomes, and names the fault.

   The interface is anywidget's. `cases` maps a key to a run: its `name`, its `losses` (null where one is no number),
   what it `printed`, the `reading` of its curve, a `line` as it is and as it `should` be, and the sets of `fewest` tests
   that suffice. `tests` maps a key to a `name`, what it `asks`, and its `outcomes`: by case, what is printed and the
   reading. `healthy` is the case without a fault, `level` a loss to mark. */

const HEIGHT = 250;
const FLOOR = 0.005; // lower losses leave the plot

const counted = (n, word) => `${["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"][n] ?? n} ${word}${n === 1 ? "" : "s"}`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

// ---- the drawing

/* The loss of each step on a logarithmic axis, the same for all cases. */
function plot(width, losses, repaired, level, range) {
  const [left, right, top, bottom] = [44, width - 8, 26, HEIGHT - 34];
  const [low, high] = range.map(Math.log10);
  const x = (step) => left + (step / (losses.length - 1)) * (right - left);
  const y = (loss) => bottom - ((Math.log10(loss) - low) / (high - low)) * (bottom - top);
  const text = (at, up, words, anchor = "start", kind = "") => svg("text", { x: at, y: up, "text-anchor": anchor, class: kind }, words);
  const picture = svg("svg", { class: "plot", width, height: HEIGHT, role: "img", "aria-label": "Loss by step, on a logarithmic scale. The print-out has its numbers." });
  for (let power = Math.ceil(low); power <= high; power += 1) {
    picture.append(svg("path", { class: "grid", d: `M${left} ${y(10 ** power)}H${right}` }));
    picture.append(text(left - 6, y(10 ** power) + 4, String(10 ** power), "end"));
  }
  picture.append(svg("path", { class: "level", d: `M${left} ${y(level)}H${right}` }));
  picture.append(text(4, 14, "loss"), text(right, HEIGHT - 4, "step", "end"));
  for (let step = 0; step < losses.length; step += 100) picture.append(text(x(step), bottom + 16, String(step), "middle"));
  const line = (values) => values.map((loss, i) => (loss === null ? "" : `${i && values[i - 1] !== null ? "L" : "M"}${x(i).toFixed(1)} ${y(loss).toFixed(1)}`)).join("");
  const frame = svg("svg", { x: 0, y: 0, width, height: bottom + 1 }); // a nested picture clips what leaves it
  if (repaired) frame.append(svg("path", { class: "curve repaired", d: line(repaired) }));
  frame.append(svg("path", { class: "curve broken", d: line(losses) }));
  picture.append(frame);
  picture.append(text(right, y(level) - 5, "ln 10", "end", "label"));
  if (repaired) picture.append(text(right, y(Math.max(...repaired.slice(-120))) - 6, "without the fault", "end", "label repaired"));
  return picture;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [cases, tests, healthy, level] = ["cases", "tests", "healthy", "level"].map((name) => model.get(name));
    const [patients, offered] = [Object.keys(cases), Object.keys(tests)];
    const every = patients.flatMap((key) => cases[key].losses).filter((loss) => loss > 0);
    const range = [Math.max(FLOOR, Math.min(...every)), Math.max(...every)];
    const state = { at: 0, done: [], named: "" };
    const patient = () => patients[state.at];
    const reading = (test, key) => (test === null ? cases[key].reading : tests[test].outcomes[key][1]);
    const alike = (done) => patients.filter((key) => [null, ...done].every((test) => reading(test, key) === reading(test, patient())));
    const names = (keys) => keys.map((key) => cases[key].name).sort().join("; ");
    const said = (test) => (test ? tests[test].name : "the print-out");

    const slider = html("input", { type: "range", name: "patient", min: 1, max: patients.length, step: 1, value: 1 });
    const shown = html("output");
    const kept = { tests: html("input", { type: "hidden", name: "tests", value: "" }), named: html("input", { type: "hidden", name: "named", value: "" }) };
    slider.addEventListener("input", () => {
      Object.assign(state, { at: Number(slider.value) - 1, done: [], named: "" });
      update();
    });
    kept.tests.addEventListener("input", () => {
      state.done = [...new Set(kept.tests.value.split("."))].filter((test) => offered.includes(test));
      update();
    });
    kept.named.addEventListener("input", () => {
      state.named = patients.includes(kept.named.value) ? kept.named.value : "";
      update();
    });

    const buttons = offered.map((test) => {
      const button = html("button", { type: "button", "data-test": test }, tests[test].name);
      button.addEventListener("click", () => {
        state.done.push(test);
        update();
        outcomes.lastChild.focus(); // the button that had the focus is disabled
      });
      return button;
    });
    const choices = [...patients].sort((a, b) => (a === healthy) - (b === healthy) || cases[a].name.localeCompare(cases[b].name));
    const guesses = choices.map((key) => {
      const button = html("button", { type: "button", "data-case": key }, capital(cases[key].name));
      button.addEventListener("click", () => {
        state.named = key;
        update();
      });
      return button;
    });

    const [stage, printed] = [html("div", { class: "stage" }), html("pre", { class: "printed", tabindex: 0 })];
    const seen = html("p", { class: "said first" });
    const outcomes = html("ol", { class: "outcomes" });
    const verdict = html("p", { class: "said verdict", "aria-live": "polite" });

    /* What the curve says, or one more test: what it rules out, and what it does not tell apart. */
    function judged(test, before, after) {
      const out = before.filter((key) => !after.includes(key));
      const read = ["Reading: ", html("strong", {}, reading(test, patient())), ". "];
      const gone = out.length && test !== null ? `Ruled out: ${names(out)}. ` : "";
      if (before.length === 1) return [...read, "One suspect was left already: this test was not needed."];
      if (after.length === 1) return [...read, gone, "One suspect is left."];
      if (!out.length) return [...read, html("em", {}, `This test tells none of the ${before.length} suspects apart`), `: each would read the same.`];
      return [...read, gone, html("em", {}, "Not told apart"), `: ${names(after)}.`];
    }

    function outcome(test, done) {
      const [here, there] = [patient(), healthy].map((key) => tests[test].outcomes[key][0]);
      const column = (title, words, kind) => html("div", { class: kind }, html("p", {}, title), html("pre", {}, words));
      return html("li", { tabindex: -1, "data-test": test },
        html("p", { class: "asked" }, html("strong", {}, tests[test].name), `. ${tests[test].asks}`),
        html("div", { class: "pair" }, column("this program", here, "here"), column("a program without a fault", there, "there")),
        html("p", { class: "judged" }, ...judged(test, alike(done), alike([...done, test]))));
    }

    /* The answer to a name. */
    function answer() {
      const [right, guess] = [patient(), state.named];
      const used = counted(state.done.length, "test");
      const code = (words) => html("code", {}, words);
      if (guess === right) {
        const { line, should, fewest, name } = cases[right];
        const change = line ? ["The program has ", code(line), " where it should have ", code(should), ". "] : [];
        const left = alike(state.done).filter((key) => key !== right);
        const sets = fewest.map((set) => set.map((test) => `“${said(test)}”`).join(" with ")).join(", or ");
        const least = fewest[0].length ? `${counted(fewest[0].length, "test")} would have done: ${sets}.` : "No test was needed: the print-out says it in its first line.";
        const luck = left.length ? `You were lucky: what you have seen fits ${names(left)} as well. ` : "";
        const spent = luck ? `You have used ${used}. ` : state.done.length === fewest[0].length ? `You have used ${used}, as few as it takes. ` : `You have used ${used}. ${capital(least)} `;
        return [html("strong", { class: "right" }, `✓ Yes: ${name}. `), ...change, luck + spent];
      }
      const named = capital(cases[guess].name);
      const against = [null, ...state.done].find((test) => reading(test, guess) !== reading(test, right));
      const no = html("strong", { class: "wrong" }, `✗ No. `);
      if (against !== undefined) {
        const what = against === null ? "the curve" : `“${said(against)}”`;
        return [no, `${named}: then ${what} would read “${reading(against, guess)}”, and here it reads “${reading(against, right)}”.`];
      }
      const next = offered.find((test) => reading(test, guess) !== reading(test, right));
      return [no, `${named} fits all that you have seen, and so do others. A test that would speak against it: “${said(next)}”.`];
    }

    let width = 0;
    function draw() {
      const repaired = state.named && state.named === patient() && patient() !== healthy ? cases[healthy].losses : null;
      stage.replaceChildren(plot(Math.max(width, 240), cases[patient()].losses, repaired, level, range));
    }
    function update() {
      slider.value = state.at + 1;
      shown.textContent = `${state.at + 1} of ${patients.length}`;
      kept.tests.value = state.done.join(".");
      kept.named.value = state.named;
      for (const button of buttons) button.disabled = state.done.includes(button.dataset.test);
      for (const button of guesses) button.setAttribute("aria-pressed", String(button.dataset.case === state.named));
      printed.textContent = cases[patient()].printed;
      seen.replaceChildren(html("strong", {}, "Curve and print-out"), ". ", ...judged(null, patients, alike([])));
      outcomes.replaceChildren(...state.done.map((test, i) => outcome(test, state.done.slice(0, i))));
      tally.textContent = `Tests used: ${state.done.length}`;
      verdict.replaceChildren(...(state.named ? answer() : ["Name it when you know, after as few tests as you can."]));
      draw();
    }

    const tally = html("output", { class: "tally" });
    const controls = html("div", { class: "controls" },
      html("label", { class: "slider" }, html("span", {}, "Program"), slider, shown),
      html("fieldset", { class: "tests" }, html("legend", {}, "Next test"), html("div", { class: "choices" }, ...buttons)),
      kept.tests, kept.named);
    const sight = html("div", { class: "sight" }, stage, printed);
    const naming = html("fieldset", { class: "naming" }, html("legend", {}, "What is wrong with it? "), html("div", { class: "choices" }, ...guesses));
    const form = html("form", { autocomplete: "off" }, controls, sight, seen, outcomes, tally, naming, verdict);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "clinic", form, steer: controls, drawing: stage, redraw });
  },
};
