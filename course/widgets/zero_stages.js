/* An experiment to steer: which part of the weights, the gradients and the optimizer each GPU holds in a stage of ZeRO.

   The interface is anywidget's. `tables` maps a model to the bytes that a GPU has `held`, by stage and by place in
   `gpus`, one number for each of `kinds`, and to those it has `sent` in a step. `kinds` has a name, the bytes per
   parameter and the first stage that cuts them. `card` is a GPU's memory in bytes; `start` is what is shown first. */

const MESSAGES = [
  "all-reduce the gradients",
  "reduce-scatter the gradients and all-gather the weights",
  "reduce-scatter each gradient as it comes and all-gather the weights",
  "all-gather the weights twice and reduce-scatter the gradients",
];
const DRAWN = 8; // GPUs, at most
const [TOP, UNIT, GAP, LEFT] = [24, 13, 8, 68]; // UNIT: the height of one byte per parameter

const commas = (value) => value.toLocaleString("en-US");

/* Bytes in GB of 10⁹. */
function gb(bytes) {
  const value = bytes / 1e9;
  return value >= 99.95 ? commas(Math.round(value)) : value >= 0.95 ? value.toFixed(1) : String(Number(value.toPrecision(2)));
}

const limit = (bytes) => commas(Math.round(bytes / 1e8) / 10);
const sum = (parts) => parts.reduce((one, other) => one + other, 0);

// ---- the drawing

/* A column for each GPU. A whole block is what the model has of a kind; what is filled is there. */
function plot(width, kinds, n, stage) {
  const [right, height] = [width - 4, TOP + sum(kinds.map(([, bytes]) => bytes * UNIT + GAP))];
  const columns = Math.min(n, DRAWN);
  const pitch = Math.min(80, (right - LEFT) / (columns + (n > DRAWN ? 1.5 : 0)));
  const label = "What each GPU holds of the optimizer, the gradients and the weights. The numbers are in the table below.";
  const picture = svg("svg", { class: "plot", width, height, role: "img", "aria-label": label });
  const text = (x, y, words, anchor = "start") => svg("text", { x, y, "text-anchor": anchor }, words);
  let y = TOP;
  for (const [kind, bytes, cut] of kinds) {
    const tall = bytes * UNIT;
    picture.append(text(2, y + tall / 2 + 4, kind));
    for (let gpu = 0; gpu < columns; gpu += 1) {
      const [x, wide] = [LEFT + gpu * pitch + 3, pitch - 6];
      const [from, share] = stage >= cut ? [gpu / n, 1 / n] : [0, 1];
      picture.append(svg("rect", { class: "whole", x, y, width: wide, height: tall }));
      picture.append(svg("rect", { class: `held ${kind}`, "data-gpu": gpu, x, y: y + from * tall, width: wide, height: Math.max(1.5, share * tall) }));
    }
    y += tall + GAP;
  }
  for (let gpu = 0; gpu < columns; gpu += 1) picture.append(text(LEFT + (gpu + 0.5) * pitch, 15, pitch < 48 ? `${gpu}` : `GPU ${gpu}`, "middle"));
  if (n > DRAWN) picture.append(text(LEFT + columns * pitch + 4, 15, `… ${commas(n - 1)}`));
  return picture;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [tables, kinds, gpus, card, start] = ["tables", "kinds", "gpus", "card", "start"].map((name) => model.get(name));
    const state = { model: start.model, stage: start.stage, at: gpus.indexOf(start.gpus) };
    const held = (stage, at) => tables[state.model].held[stage][at];

    const choice = (title, name, values) => radios(title, name, values.map((value) => [value, String(value)]), state[name], (value) => {
      state[name] = value;
      update();
    });
    const models = choice("Model", "model", Object.keys(tables));
    const stages = choice("Stage", "stage", [0, 1, 2, 3]);
    const { input: slider, shown, label: many } = stopsSlider("GPUs", "gpus", gpus, gpus[state.at], (value) => {
      state.at = gpus.indexOf(value);
      update();
    });

    const drawing = html("div");
    const said = html("p", { class: "said", "aria-live": "polite" });
    const numbers = html("div", { class: "figures" });
    let width = 0;
    const draw = () => drawing.replaceChildren(plot(Math.max(width, 240), kinds, gpus[state.at], state.stage));

    function table() {
      const head = ["GB each", ...kinds.map(([kind]) => kind), "all", `≤ ${limit(card)}`].map((words) => html("th", { scope: "col" }, words));
      const rows = [0, 1, 2, 3].map((stage) => {
        const parts = held(stage, state.at);
        const cells = [...[...parts, sum(parts)].map(gb), sum(parts) <= card ? "✓" : "✗"].map((words) => html("td", {}, words));
        const row = html("tr", {}, html("th", { scope: "row" }, `stage ${stage}`), ...cells);
        if (stage === state.stage) row.setAttribute("aria-current", "true");
        return row;
      });
      return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
    }

    /* How many GPUs are enough for this stage, or why none are. */
    function enough() {
      const first = gpus.findIndex((_, at) => sum(held(state.stage, at)) <= card);
      if (first >= 0) return `With ${commas(gpus[first])} GPU${gpus[first] === 1 ? "" : "s"} or more, each holds at most ${limit(card)} GB. `;
      const whole = kinds.map(([, , cut]) => state.stage < cut);
      const floor = sum(held(state.stage, 0).filter((_, i) => whole[i]));
      const each = sum(kinds.map(([, bytes], i) => (whole[i] ? bytes : 0)));
      if (floor <= card) return `None of these numbers of GPUs brings that to ${limit(card)} GB. `;
      return `No number of GPUs brings that to ${limit(card)} GB: what is not cut, ${each} bytes per parameter, takes ${gb(floor)} GB on each. `;
    }

    function update() {
      const n = gpus[state.at];
      shown.textContent = commas(n);
      slider.setAttribute("aria-valuetext", shown.textContent);
      const total = html("strong", {}, `${gb(sum(held(state.stage, state.at)))} GB of states on ${n === 1 ? "the one GPU" : `each of ${commas(n)} GPUs`}. `);
      const sends = n === 1 ? "It sends nothing." : `To ${MESSAGES[state.stage]}, each sends ${gb(tables[state.model].sent[state.stage][state.at])} GB per step.`;
      said.replaceChildren(total, enough(), sends);
      numbers.replaceChildren(table());
      draw();
    }

    const controls = html("div", { class: "controls" }, models, stages, many);
    const form = html("form", { autocomplete: "off" }, controls, drawing, said, numbers);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "zero-stages", form, steer: controls, drawing, redraw });
  },
};
