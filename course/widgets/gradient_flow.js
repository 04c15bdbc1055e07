/* An experiment to steer: the gradient norm of every hidden layer of a deep network, for one choice of its parts.

   The interface is anywidget's. `data` maps "activation/init/residual/norm/depth" to the norms of the hidden layers,
   first to last: 0 where nothing is left, null where the norm is inf or nan. The first key is shown first. */

const SWITCH = { 0: "off", 1: "on" };
const CONTROLS = [
  { legend: "Activation", labels: { relu: "ReLU" } },
  { legend: "Initialization", labels: { xavier: "Xavier", he: "He" } },
  { legend: "Residual", labels: SWITCH },
  { legend: "BatchNorm", labels: SWITCH },
  { legend: "Hidden layers", labels: {} },
];
const HEIGHT = 300;
const SMALLEST_NORMAL = 2 ** -126; // of float32
const HEALTHY = 30; // the first layer within this factor of the last, as the lesson's healthy_mlp must be
const VANISHED = 1e-3;
const [TINY, HUGE] = [1e-3, 1e3]; // of the largest norm; the weights of a layer have a norm of about 10

// ---- numbers and words

const power = (exponent) => "10" + [...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");

function number(value) {
  if (value === null) return "inf or nan";
  if (value === 0) return "0";
  if (value >= 0.001 && value < 999.5) return value.toPrecision(3);
  if (value >= 999.5 && value < 99999.5) return Math.round(value).toLocaleString("en-US");
  const [mantissa, exponent] = value.toExponential(1).split("e");
  return `${mantissa}\u00a0×\u00a0${power(Number(exponent))}`;
}

function describe(key) {
  const [activation, init, residual, norm, depth] = key.split("/");
  const label = (control, value) => CONTROLS[control].labels[value] ?? value;
  const extras = [residual === "1" && "residual", norm === "1" && "BatchNorm"].filter(Boolean);
  return [label(0, activation), `${label(1, init)} init`, ...extras, `${depth} layers`].join(", ");
}

/* What the norms say: a word, and a sentence with the figures. */
function judge(norms) {
  if (!norms) return ["Not measured.", "Choose something else."];
  const n = norms.length;
  const count = (wanted) => norms.filter((norm) => norm === wanted).length;
  const share = (some) => (some === n ? "every layer" : `${some} of ${n} layers`);
  if (count(null)) return ["Explodes.", `The gradient of ${share(count(null))} is inf or nan.`];
  if (count(0)) return ["Vanishes.", `The gradient of ${share(count(0))} is exactly 0: too small to be stored.`];
  const ratio = norms[0] / norms[n - 1];
  const factor = ratio ** (1 / Math.max(1, n - 1));
  const compared = `Layer 1 has ${number(ratio)} times the gradient of layer ${n}`;
  const figures = `${compared}: a factor of ${number(factor)} per layer.`;
  const [least, most] = [Math.min(...norms), Math.max(...norms)];
  if (least > HUGE) return ["Explodes in every layer.", `None is below ${number(least)}. ${figures}`];
  if (ratio < VANISHED) return ["Vanishes.", figures];
  if (ratio < 1 / HEALTHY) return ["Fades.", figures];
  if (ratio > HEALTHY) return ["Explodes.", figures];
  if (most >= HUGE) return ["Level, but huge.", `The largest norm is ${number(most)}. ${figures}`];
  if (most <= TINY) return ["Level, but tiny.", `The largest norm is ${number(most)}. ${figures}`];
  return ["Healthy.", figures];
}

// ---- the drawing

const SHAPES = {
  now: (x, y) => svg("circle", { class: "mark now", cx: x, cy: y, r: 3.5 }),
  pinned: (x, y) => svg("rect", { class: "mark pinned", x: x - 3, y: y - 3, width: 6, height: 6 }),
};

function swatch(kind) {
  const line = svg("path", { class: `trace ${kind}`, d: "M1 6H27" });
  return svg("svg", { class: "swatch", width: 28, height: 12, "aria-hidden": "true" }, line, SHAPES[kind](14, 6));
}

/* The smallest of 1, 2, 5, 10, … that cuts `span` into at most `pieces`. */
const stepFor = (span, pieces) => [1, 2, 5, 10, 20, 50, 100].find((step) => span / step <= pieces) ?? 200;

/* `traces`: { kind, norms }, drawn in this order. */
function plot(width, traces) {
  const [left, right, top, bottom] = [48, width - 10, 30, HEIGHT - 44];
  const logs = traces.flatMap(({ norms }) => norms.filter((norm) => norm > 0).map(Math.log10));
  const [lowest, highest] = [Math.min(-4, ...logs), Math.max(2, ...logs)]; // level curves look level
  const step = stepFor(highest - lowest, 8);
  const [low, high] = [Math.floor(lowest / step) * step, Math.ceil(highest / step) * step];
  const layers = Math.max(2, ...traces.map(({ norms }) => norms.length));
  const x = (layer) => left + ((layer - 1) / (layers - 1)) * (right - left - 8) + 4;
  const y = (log) => bottom - ((log - low) / (high - low)) * (bottom - top);
  const text = (at, up, words, anchor = "start") => svg("text", { x: at, y: up, "text-anchor": anchor }, words);
  const label = "Gradient norm by hidden layer, on a logarithmic scale. The numbers are in the table below.";
  const picture = svg("svg", { class: "plot", width, height: HEIGHT, role: "img", "aria-label": label });

  for (let log = low; log <= high; log += step) {
    picture.append(svg("path", { class: "grid", d: `M${left} ${y(log)}H${right}` }));
    picture.append(text(left - 6, y(log) + 4, power(log), "end"));
  }
  const every = stepFor(layers, width < 400 ? 5 : 10);
  for (let layer = 1; layer <= layers; layer += 1)
    if (layer === 1 || layer % every === 0) picture.append(text(x(layer), bottom + 17, String(layer), "middle"));
  picture.append(text(4, 14, "norm of dL/dW"));
  picture.append(text(right, HEIGHT - 8, "hidden layer (backward runs ←)", "end"));

  const limit = Math.log10(SMALLEST_NORMAL);
  if (limit > low) {
    picture.append(svg("path", { class: "limit", d: `M${left} ${y(limit)}H${right}` }));
    picture.append(text(right, y(limit) - 5, "smallest normal float32", "end"));
  }
  for (const { kind, norms } of traces) {
    const seen = norms.map((norm, i) => (norm > 0 ? [x(i + 1), y(Math.log10(norm))] : null));
    const path = seen.map((point, i) => point && (seen[i - 1] ? "L" : "M") + point.join(" "));
    picture.append(svg("path", { class: `trace ${kind}`, d: path.filter(Boolean).join("") }));
    picture.append(...seen.filter(Boolean).map((point) => SHAPES[kind](...point)));
    const zeros = norms.flatMap((norm, i) => (norm === 0 ? [x(i + 1)] : []));
    for (const at of zeros)
      picture.append(svg("path", { class: `trace zero ${kind}`, d: `M${at - 3} ${bottom - 3}l6 6m0 -6l-6 6` }));
    if (zeros.length) picture.append(text(zeros[0] - 3, bottom - 9, "exactly 0"));
  }
  return picture;
}

function table(traces) {
  const layers = Math.max(0, ...traces.map(({ norms }) => norms.length));
  const cell = (norms, i) => html("td", {}, i < norms.length ? number(norms[i]) : "");
  const rows = Array.from({ length: layers }, (_, i) =>
    html("tr", {}, html("th", { scope: "row" }, String(i + 1)), ...traces.map(({ norms }) => cell(norms, i))),
  );
  const head = ["Layer", ...traces.map(({ key }) => describe(key))].map((words) => html("th", { scope: "col" }, words));
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

// ---- the widget

export default {
  render({ model, el }) {
    const data = model.get("data");
    const choice = Object.keys(data)[0].split("/");
    let pinned = null;

    const groups = CONTROLS.map(({ legend, labels }, i) => {
      const values = [...new Set(Object.keys(data).map((key) => key.split("/")[i]))];
      if (values.every((value) => value >= 0)) values.sort((a, b) => a - b); // switches and depths
      const options = values.map((value) => [value, labels[value] ?? value]);
      return radios(legend, legend, options, choice[i], (value) => {
        choice[i] = value;
        update();
      });
    });

    const [drawing, verdicts] = [html("div"), html("div", { class: "verdicts", "aria-live": "polite" })];
    const lines = { now: html("p", { class: "now" }), pinned: html("p", { class: "pinned" }) };
    verdicts.append(lines.now, lines.pinned);
    const pin = html("button", { type: "button" }, "Pin this curve");
    const unpin = html("button", { type: "button" }, "Unpin");
    const scroll = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Gradient norms" });
    const numbers = html("details", {}, html("summary", {}, "The numbers as a table"), scroll);

    function say(kind, key) {
      const [word, figures] = judge(data[key]);
      const intro = kind === "pinned" ? "Pinned: " : "";
      lines[kind].replaceChildren(swatch(kind), intro + describe(key) + ". ", html("strong", {}, word), " " + figures);
    }

    function traces() {
      const kept = pinned && { key: pinned, kind: "pinned", norms: data[pinned] };
      const key = choice.join("/");
      return [kept, data[key] && { key, kind: "now", norms: data[key] }].filter(Boolean);
    }

    let width = 0;
    const draw = () => drawing.replaceChildren(plot(Math.max(width, 240), traces()));

    function update() {
      const key = choice.join("/");
      say("now", key);
      pin.disabled = !data[key];
      draw();
      scroll.replaceChildren(table(traces().reverse()));
    }

    function keep(key) {
      pinned = key;
      kept.value = key ?? "";
      if (key) say("pinned", key);
      else lines.pinned.replaceChildren();
      unpin.hidden = !key;
      update();
    }
    pin.addEventListener("click", () => keep(choice.join("/")));
    unpin.addEventListener("click", () => {
      keep(null);
      pin.focus(); // the button that had the focus is gone
    });

    const kept = html("input", { type: "hidden", name: "pinned", value: "" });
    kept.addEventListener("input", () => keep(data[kept.value] ? kept.value : null));

    // A form of its own, so that the radio buttons of two widgets on a page do not mix.
    const buttons = html("div", { class: "buttons" }, kept, pin, unpin);
    const controls = html("div", { class: "controls" }, ...groups, buttons);
    const form = html("form", { autocomplete: "off" }, controls, drawing, verdicts, numbers);
    keep(null);
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "gradient-flow", form, steer: controls, drawing, redraw });
  },
};
