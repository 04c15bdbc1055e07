/* An experiment to steer: a few steps of training, with zero_grad and without. Each step's own gradient beside what
   .grad holds, and the loss.

   The interface is anywidget's. `runs`: [with zero_grad, without], each a map from a parameter to its `value`,
   `gradient` and `grad` in every step, and from "" to the `loss`. All are taken between backward and step. */

const BARS = 170;
const LOSS = 120;
const GAP = 34; // between the two, with room for a title
const [TOP, BOTTOM] = [28, 36];

function number(value) {
  const size = Math.abs(value);
  const text = size && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : value.toFixed(size < 1 ? 3 : 2);
  return text.replaceAll("-", "−").replace("+", "");
}

/* Ticks at round numbers from `low` to `high`, about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const by = power * [1, 2, 5, 10].find((one) => power * one >= rough);
  const first = Math.ceil(low / by);
  return Array.from({ length: Math.floor(high / by) - first + 1 }, (_, i) => Number(((first + i) * by).toPrecision(12)));
}

/* At most six letters, which the margin has room for. */
function plain(value) {
  const size = Math.abs(value);
  const text = size && (size < 0.001 || size >= 1e4) ? value.toExponential() : String(Number(value.toPrecision(3)));
  return text.replaceAll("-", "−").replace("+", "");
}

// ---- the drawing

function plot(width, runs, chosen, parameter, step) {
  const [left, right] = [52, width - 6];
  const { gradient, grad } = runs[chosen][parameter];
  const steps = gradient.length;
  const pitch = (right - left) / steps;
  const x = (at) => left + (at - 0.5) * pitch; // the middle of a step
  const height = TOP + BARS + GAP + LOSS + BOTTOM;
  const label = `Gradient and .grad of ${parameter} by step, and the loss. The numbers are in the table below.`;
  const picture = svg("svg", { class: "plot", width, height, role: "img", "aria-label": label });
  const text = (at, y, words, anchor = "start") => svg("text", { x: at, y, "text-anchor": anchor }, words);

  // One scale for both runs, so that the switch changes the bars and not their frame.
  const scale = (values, top, size, wanted) => {
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const span = (high - low) * 1.04 || 1;
    const y = (value) => top + ((high - value) / span) * size;
    for (const tick of ticks(low, high || 1, wanted)) {
      picture.append(svg("path", { class: tick ? "grid" : "zero", d: `M${left} ${y(tick)}H${right}` }));
      picture.append(text(left - 6, y(tick) + 4, plain(tick), "end"));
    }
    return y;
  };
  const [lossTop, lossEnd] = [TOP + BARS + GAP, TOP + BARS + GAP + LOSS];
  const band = { class: "band", x: x(step) - pitch / 2, y: TOP, width: pitch, height: lossEnd - TOP };
  picture.append(svg("rect", band));

  const y = scale(runs.flatMap((run) => [...run[parameter].gradient, ...run[parameter].grad]), TOP, BARS, 5);
  picture.append(text(2, 15, `gradient and .grad of ${parameter}`));
  const thick = Math.min(10, pitch * 0.4);
  for (let i = 0; i < steps; i += 1) {
    const bar = (kind, value, at) => {
      const [top, bottom] = [y(Math.max(0, value)), y(Math.min(0, value))];
      const when = i + 1 > step ? " later" : "";
      return svg("rect", { class: `${kind}${when}`, x: at, y: top, width: thick, height: Math.max(0.5, bottom - top) });
    };
    picture.append(bar("fresh", gradient[i], x(i + 1) - thick), bar("held", grad[i], x(i + 1)));
  }

  const up = scale(runs.flatMap((run) => run[""].loss), lossTop, LOSS, 3);
  picture.append(text(2, lossTop - 9, "loss"));
  for (const [i, run] of runs.entries()) {
    const d = run[""].loss.map((value, k) => `${k ? "L" : "M"}${x(k + 1)} ${up(value)}`).join("");
    picture.append(svg("path", { class: `loss ${i ? "off" : "on"} ${i === chosen ? "chosen" : ""}`, d }));
  }
  picture.append(svg("circle", { class: "spot", cx: x(step), cy: up(runs[chosen][""].loss[step - 1]), r: 4.5 }));
  for (const tick of ticks(1, steps, 6).filter((one) => one >= 1))
    picture.append(text(x(tick), lossEnd + 16, plain(tick), "middle"));
  picture.append(text(right, lossEnd + 32, "step", "end"));
  return picture;
}

function swatch(...shapes) {
  return svg("svg", { class: "swatch", width: 24, height: 12, "aria-hidden": "true" }, ...shapes);
}

function legend() {
  const bar = (kind) => swatch(svg("rect", { class: kind, x: 7, y: 1, width: 10, height: 10 }));
  const line = (kind) => swatch(svg("path", { class: `loss chosen ${kind}`, d: "M1 6H23" }));
  const entries = [
    [bar("fresh"), "this step's gradient"],
    [bar("held"), ".grad, which step() uses"],
    [line("on"), "loss with zero_grad"],
    [line("off"), "without"],
  ].map(([sign, words]) => html("span", {}, sign, words));
  return html("p", { class: "key" }, ...entries);
}

function table(run, parameter, step) {
  const { value, gradient, grad } = run[parameter];
  const head = ["Step", "loss", parameter, "gradient", ".grad"].map((words) => html("th", { scope: "col" }, words));
  const rows = gradient.map((_, i) => {
    const figures = [run[""].loss[i], value[i], gradient[i], grad[i]].map((one) => html("td", {}, number(one)));
    const row = html("tr", {}, html("th", { scope: "row" }, String(i + 1)), ...figures);
    if (i + 1 === step) row.setAttribute("aria-current", "step");
    return row;
  });
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

function sentence(runs, chosen, parameter, step) {
  const [{ gradient, grad }, other] = [runs[chosen][parameter], runs[1 - chosen]];
  const sum = step > 1 ? `the sum of ${step} gradients` : "the sum of 1 gradient";
  return [
    html("strong", {}, `Step ${step}, zero_grad ${chosen ? "off" : "on"}. `),
    `The gradient of ${parameter} is ${number(gradient[step - 1])}. `,
    `.grad holds ${number(grad[step - 1])}, ${chosen ? sum : "this step's gradient alone"}. `,
    `The loss is ${number(runs[chosen][""].loss[step - 1])}; with zero_grad ${chosen ? "on" : "off"} it is `,
    `${number(other[""].loss[step - 1])}.`,
  ];
}

// ---- the widget

export default {
  render({ model, el }) {
    const runs = model.get("runs");
    const parameters = Object.keys(runs[0]).filter(Boolean);
    const steps = runs[0][""].loss.length;
    let [chosen, parameter, step] = [0, parameters[0], 1];

    const choice = (title, options, now, choose) => radios(title, title, options, now, (value) => {
      choose(value);
      update();
    });
    const clears = choice("zero_grad", ["on", "off"].map((word) => [word, word]), "on", (value) => (chosen = value === "on" ? 0 : 1));
    const named = parameters.map((name) => [name, name]);
    const which = choice("Parameter", named, parameter, (value) => (parameter = value));

    const slider = html("input", { type: "range", name: "step", min: 1, max: steps, step: 1, value: step });
    const shown = html("output");
    slider.addEventListener("input", () => {
      step = Number(slider.value);
      update();
    });
    const stepper = html("label", { class: "slider" }, html("span", {}, "Step"), slider, shown);

    const stage = html("div");
    const said = html("p", { class: "said", "aria-live": "polite" });
    const scroll = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Steps" });
    const numbers = html("details", {}, html("summary", {}, "The numbers as a table"), scroll);

    let width = 0;
    const draw = () => stage.replaceChildren(plot(Math.max(width, 240), runs, chosen, parameter, step));
    function update() {
      shown.textContent = `${step} of ${steps}`;
      said.replaceChildren(...sentence(runs, chosen, parameter, step));
      scroll.replaceChildren(table(runs[chosen], parameter, step));
      draw();
    }

    // A form of its own, so that the radio buttons of two widgets on a page do not mix.
    const controls = html("div", { class: "controls" }, clears, which, stepper);
    const form = html("form", { autocomplete: "off" }, controls, stage, legend(), said, numbers);
    const redraw = (room) => {
      width = room;
      draw();
      const all = [0, 1].flatMap((off) => parameters.map((name) => [off, name]));
      const each = (of) => all.map(([off, name]) => sentence(runs, off, name, of));
      reserve(said, Array.from({ length: steps }, (_, i) => each(i + 1)).flat());
    };
    const leave = framed({ model, el, kind: "gradient-account", form, steer: controls, drawing: stage, redraw });
    update();
    return leave;
  },
};
