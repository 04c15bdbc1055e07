/* An experiment to steer: the arrays of a two-layer network and their gradients, drawn to scale, and the bytes they take.

   The interface is anywidget's. `start` gives the sizes that are shown first: n rows, d inputs, m hidden units,
   o outputs; `stops`, ascending, what each slider can be set to; `itemsize` the bytes of a number. */

const SIZES = { n: "Batch", d: "Inputs", m: "Hidden units", o: "Outputs" };
/* Columns of the drawing, left to right: an array with n rows, and above it the weights and the bias that make it. */
const COLUMNS = [
  { name: "X", dims: ["n", "d"], kept: true, formed: false },
  { name: "Z", dims: ["n", "m"], kept: true, formed: true, weights: "W₁", bias: "b₁", from: "d" },
  { name: "H", dims: ["n", "m"], kept: true, formed: true },
  { name: "logits", dims: ["n", "o"], kept: false, formed: true, weights: "W₂", bias: "b₂", from: "m" },
  { name: "p", dims: ["n", "o"], kept: true, formed: false },
];
const [GAP, THINNEST, LARGEST] = [4, 2, 8]; // pixels
const roomFor = (width) => (width < 420 ? 110 : 180); // above each other: a phone has to be scrolled
const BESIDE = 2.5; // of the mark that a slider moves a side

// ---- what there is

/* Every array: its name, what its sides are called, its part in the storage, and that of its gradient. */
function arrays(keepZ) {
  const of = ({ name, dims, kept, formed, weights, bias, from }) => [
    ...(weights ? [{ name: weights, dims: [from, dims[1]], part: "parameter", back: "gradient" }] : []),
    ...(bias ? [{ name: bias, dims: [dims[1]], part: "parameter", back: "gradient" }] : []),
    { name, dims, part: kept && (name !== "Z" || keepZ) ? "kept" : "gone", back: formed ? "passing" : "never" },
  ];
  return COLUMNS.flatMap(of);
}

const shape = (dims, sizes, comma = ", ") =>
  `(${dims.map((dim) => sizes[dim]).join(comma)}${dims.length === 1 ? "," : ""})`;
const count = (dims, sizes) => dims.reduce((product, dim) => product * sizes[dim], 1);
const commas = (value) => value.toLocaleString("en-US");

/* Bytes of each part: parameter, kept, gone; gradient, passing. */
function storage(list, sizes, itemsize) {
  const bytes = { parameter: 0, kept: 0, gone: 0, gradient: 0, passing: 0, never: 0 };
  for (const { dims, part, back } of list) {
    bytes[part] += count(dims, sizes) * itemsize;
    bytes[back] += count(dims, sizes) * itemsize;
  }
  return bytes;
}

function ratio(value) {
  return value < 0.001
    ? "less than 0.001"
    : value < 999.5
      ? String(Number(value.toPrecision(3)))
      : commas(Math.round(value));
}

// ---- the drawing

const pen = document.createElement("canvas").getContext("2d"); // measures text
const commaIn = (width) => (width < 340 ? "," : ", ");
const columnWidths = (sizes, scale, comma) =>
  COLUMNS.map(({ name, dims, weights, bias, from }) => {
    const texts = [`d${name}`, shape(dims, sizes, comma)];
    if (weights) texts.push(shape([from, dims[1]], sizes, comma), `d${bias} ${shape([dims[1]], sizes)}`);
    return Math.max(sizes[dims[1]] * scale, ...texts.map((text) => pen.measureText(text).width));
  });

/* Pixels for a number: the largest power of √2 at which all fits. In steps, so that one slider seldom moves all. */
function scaleFor(sizes, width) {
  const wide = (scale) =>
    columnWidths(sizes, scale, commaIn(width)).reduce((sum, w) => sum + w, GAP * (COLUMNS.length - 1));
  const fits = (scale) =>
    wide(scale) <= Math.max(width, wide(0)) && (sizes.n + Math.max(sizes.d, sizes.m)) * scale <= roomFor(width);
  let scale = LARGEST;
  while (!fits(scale)) scale /= Math.SQRT2;
  return scale;
}

/* One of the two pictures: the values, or with `back` their gradients. The same places, for the shapes are the same. */
function picture({ width, sizes, keepZ, back, touched }) {
  const scale = scaleFor(sizes, width);
  const comma = commaIn(width);
  const widths = columnWidths(sizes, scale, comma);
  const used = widths.reduce((sum, w) => sum + w, GAP * (COLUMNS.length - 1));
  const side = (dim) => Math.max(THINNEST, sizes[dim] * scale);
  const top = 30 + roomFor(width) - side("n");
  const list = Object.fromEntries(arrays(keepZ).map((one) => [one.name, one]));
  const d = back ? "d" : "";
  const spoken = Object.values(list).filter((one) => !back || one.back !== "never");
  const label = `${back ? "Gradients" : "Values"}, drawn to scale: `;
  const words = spoken.map(({ name, dims }) => `${d}${name} ${shape(dims, sizes)}`).join(", ");
  const height = roomFor(width) + 106;
  const drawn = svg("svg", { class: "shapes", width, height, role: "img", "aria-label": label + words });
  const say = (x, y, text) => drawn.append(svg("text", { x, y, "text-anchor": "middle" }, text));

  function rectangle(name, x, y) {
    const { dims, part, back: gradient } = list[name];
    const [w, h] = [side(dims.at(-1)), dims.length === 2 ? side(dims[0]) : Math.max(THINNEST, scale)];
    const kind = back ? gradient : part;
    drawn.append(svg("rect", { class: kind, "data-name": d + name, x: x - w / 2, y: y - h, width: w, height: h }));
    // Beside the rectangle, not on it: a side of two pixels would be all that one sees of a thin one.
    const [near, far] = [x - w / 2 - BESIDE, x + w / 2 + BESIDE];
    const edges = [dims.length === 2 && dims[0] === touched && `M${near} ${y}v${-h}M${far} ${y}v${-h}`];
    edges.push(dims.at(-1) === touched && `M${x - w / 2} ${y + BESIDE}h${w}M${x - w / 2} ${y - h - BESIDE}h${w}`);
    for (const path of edges.filter(Boolean))
      if (kind !== "never") drawn.append(svg("path", { class: "touched", d: path }));
    return y - h;
  }

  let left = (width - used) / 2;
  COLUMNS.forEach(({ name, dims, weights, bias, from }, i) => {
    const middle = left + widths[i] / 2;
    const bottom = top + 34 + side("n");
    rectangle(name, middle, bottom);
    say(middle, bottom + 15, d + name);
    if (!back || list[name].back !== "never") say(middle, bottom + 30, shape(dims, sizes, comma));
    if (weights) {
      const above = rectangle(bias, middle, top + 26);
      say(middle, above - 5, `${d}${bias} ${shape([dims[1]], sizes)}`);
      const highest = rectangle(weights, middle, above - 21);
      say(middle, highest - 20, d + weights);
      say(middle, highest - 5, shape([from, dims[1]], sizes, comma));
    }
    left += widths[i] + GAP;
  });
  return { drawn, scale };
}

/* A bar of a round number of entries, for the eye. */
function ruler(scale) {
  const rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];
  const entries = rounds.findLast((number) => number * scale <= 70) ?? 1;
  const line = svg("path", { d: `M1 2v8M1 6h${entries * scale}m0 -4v8` });
  const bar = svg("svg", { class: "ruler", width: entries * scale + 2, height: 12, "aria-hidden": "true" }, line);
  return [bar, entries === 1 ? "1 number" : `${entries} numbers`];
}

// ---- the storage

const PARTS = [
  { part: "parameter", label: "parameters", names: "W₁, b₁, W₂, b₂" },
  { part: "gradient", label: "their gradients", names: "dW₁, db₁, dW₂, db₂" },
  { part: "kept", label: "kept for backward", names: null },
  { part: "passing", label: "gradients on the way", names: "dlogits, dH, dZ" },
];

function storageTable(bytes, keepZ) {
  const most = Math.max(...PARTS.map(({ part }) => bytes[part]));
  const row = ({ part, label, names }) => {
    const bar = html("div", { class: `bar ${part}`, style: `width: ${(100 * bytes[part]) / most}%` });
    const which = html("small", {}, names ?? (keepZ ? "X, Z, H, p" : "X, H, p"));
    const head = html("th", { scope: "row" }, label, " ", which);
    return html("tr", { class: part }, head, html("td", {}, bar), html("td", {}, commas(bytes[part])));
  };
  const sum = bytes.parameter + bytes.gradient + bytes.kept;
  const total = html("th", { scope: "row" }, "together ", html("small", {}, "the three above"));
  const rows = PARTS.map(row);
  rows.splice(3, 0, html("tr", { class: "total" }, total, html("td"), html("td", {}, commas(sum))));
  const head = html(
    "tr",
    {},
    html("th", { scope: "col" }, "Storage"),
    html("td"),
    html("th", { scope: "col" }, "bytes"),
  );
  return html("table", { class: "storage" }, html("thead", {}, head), html("tbody", {}, ...rows));
}

function everyArray(list, sizes, itemsize) {
  const columns = ["Value", "Shape", "Bytes", "Kept", "Gradient", "Its shape", "Its bytes"];
  const head = html("tr", {}, ...columns.map((words) => html("th", { scope: "col" }, words)));
  const rows = list.map(({ name, dims, part, back }) => {
    const [its, bytes] = [shape(dims, sizes), commas(count(dims, sizes) * itemsize)];
    const kept = { kept: "yes", gone: "no", parameter: "parameter" }[part];
    const gradient = back === "never" ? ["not formed", "", ""] : [`d${name}`, its, bytes];
    const cells = [its, bytes, kept, ...gradient].map((words) => html("td", {}, words));
    return html("tr", {}, html("th", { scope: "row" }, name), ...cells);
  });
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
}

// ---- the widget

export default {
  render({ model, el }) {
    const [stops, itemsize] = [model.get("stops"), model.get("itemsize")];
    const sizes = { ...model.get("start") };
    let [keepZ, touched] = [true, null];

    const sliders = Object.entries(SIZES).map(([dim, words]) => {
      const range = {
        type: "range",
        name: dim,
        min: 0,
        max: stops.length - 1,
        step: 1,
        value: stops.indexOf(sizes[dim]),
      };
      const [input, shown] = [html("input", range), html("output")];
      input.stops = stops;
      const show = () => {
        shown.textContent = sizes[dim];
        input.setAttribute("aria-valuetext", sizes[dim]);
      };
      const touch = () => {
        touched = dim;
        sizes[dim] = stops[input.value];
        show();
        update();
      };
      input.addEventListener("input", touch);
      input.addEventListener("focus", touch);
      show();
      return html("label", { class: "slider" }, html("span", {}, `${words} `, html("i", {}, dim)), input, shown);
    });
    const box = html("input", { type: "checkbox", name: "keep" });
    box.checked = keepZ;
    box.addEventListener("change", () => {
      keepZ = box.checked;
      update();
    });
    const keep = html("label", { class: "keep" }, box, "Keep Z as well as H");

    const places = [false, true].map((back) => ({ back, at: html("div") }));
    const legends = [
      ["parameter", "parameter"],
      ["kept", "kept for backward"],
      ["gone", "let go"],
      ["gradient", "gradient that stays"],
      ["passing", "gradient on the way"],
      ["never", "not formed"],
    ].map(([kind, words]) => {
      const rect = svg("rect", { class: kind, x: 1, y: 1, width: 12, height: 10 });
      const swatch = svg("svg", { class: "swatch shapes", width: 14, height: 12, "aria-hidden": "true" }, rect);
      return html("span", {}, swatch, words);
    });
    const scaleBar = html("span");
    const figures = places.map(({ back, at }) =>
      html(
        "div",
        { class: "panel" },
        html("p", { class: "title" }, back ? "Backward: gradients" : "Forward: values"),
        at,
      ),
    );
    const [verdict, store] = [html("p", { class: "verdict", "aria-live": "polite" }), html("div", { class: "store" })];
    const scroll = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Shapes and bytes" });
    const numbers = html("details", {}, html("summary", {}, "The numbers as a table"), scroll);

    let width = 0;
    function draw() {
      pen.font = `12px ${getComputedStyle(el).fontFamily}`;
      for (const { back, at } of places) {
        const { drawn, scale } = picture({ width: Math.max(width, 280), sizes, keepZ, back, touched });
        at.replaceChildren(drawn);
        scaleBar.replaceChildren(...ruler(scale));
      }
    }

    function update() {
      const list = arrays(keepZ);
      const bytes = storage(list, sizes, itemsize);
      const { n, d, m, o } = sizes;
      const row = bytes.kept / n;
      const more = Math.floor(bytes.parameter / row) + 1;
      const formula = `${n} × (${d} + ${keepZ ? "2 × " : ""}${m} + ${o}) × ${itemsize}`;
      verdict.replaceChildren(
        `Kept for backward: ${formula} = `,
        html("strong", {}, `${commas(bytes.kept)} bytes`),
        `, ${ratio(bytes.kept / bytes.parameter)} times the parameters. `,
        `From a batch of ${commas(more)} on, it is more than the parameters.`,
      );
      store.replaceChildren(storageTable(bytes, keepZ));
      scroll.replaceChildren(everyArray(list, sizes, itemsize));
      draw();
    }

    const controls = html("div", { class: "sizes" }, ...sliders, keep);
    const legend = html("div", { class: "legend" }, ...legends, scaleBar);
    const panels = html("div", { class: "panels" }, ...figures);
    const form = html("form", { autocomplete: "off" }, controls, panels, legend, verdict, store, numbers);
    const redraw = (room) => {
      width = room;
      draw();
    };
    const leave = framed({ model, el, kind: "mlp-shapes", form, steer: controls, drawing: places[0].at, redraw });
    update();
    return leave;
  },
};
