/* An experiment to steer: what a training step needs of each GPU, whether it fits, and the cheapest change if it does not.

   The interface is anywidget's. `tables` is what course.widgets.predictions makes of the predictor's answers, and says
   there what it holds; here is looked up, added and compared. `start` gives the settings that are shown first. */

const PARTS = [
  { part: "weights", name: "weights" },
  { part: "grads", name: "gradients" },
  { part: "optimizer", name: "optimizer" },
  { part: "gathered", name: "unsharded" },
  { part: "activations", name: "activations" },
  { part: "loss_head", name: "loss head" },
  { part: "transients", name: "transients" },
];
const [TOP, THICK, BOTTOM] = [24, 44, 40]; // pixels of the drawing
const SIDE = 8;

// ---- the account

/* What there is on each GPU with these settings. `way` counts through the ways to run a model. */
function account(tables, { model, precision, norms, seq, batch, gpus, way }) {
  const [weights, grads, optimizer, gathered] = tables.states[model][precision];
  const share = (bytes) => Math.ceil(bytes / gpus);
  const itemsize = tables.precisions[precision][3];
  const [activations, head, transients, constant, layer] = tables.bytes[model][itemsize][norms][way];
  const n = seq * batch;
  const [atLoss, inLayer] = [n * (head + transients) + constant, n * layer];
  const parts = {
    weights: share(weights),
    grads: share(grads),
    optimizer: share(optimizer),
    gathered: gpus > 1 ? gathered : 0,
    activations: n * activations,
    loss_head: atLoss >= inLayer ? n * head : 0,
    transients: atLoss >= inLayer ? n * transients + constant : inLayer,
  };
  const total = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const kept = parts.activations;
  return { parts, total, atLoss: kept + atLoss, inLayer: kept + inLayer, peakAt: atLoss >= inLayer ? "loss" : "layer" };
}

/* The most sequences at once that fit, up to `most`; 0 if not even one does. */
function largestBatch(tables, setting, card, most = 2 ** 20) {
  const fits = (batch) => account(tables, { ...setting, batch }).total <= card;
  if (!fits(1)) return 0;
  let [low, high] = [1, most]; // low fits
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The cheapest change on the same machine, or what more GPUs would do; each as the settings that fit. */
function remedies(tables, setting, card) {
  const [length, ways] = [tables.seqs.indexOf(setting.seq), tables.recompute.length * 2];
  const order = tables.orders[tables.ranks[setting.model][length][setting.way]];
  let best = null;
  for (let way = 0; way < ways; way += 1) {
    const batch = largestBatch(tables, { ...setting, way }, card, setting.batch);
    const rank = order[2 * way + (batch < setting.batch ? 1 : 0)];
    if (!batch || rank === "-") continue;
    if (!best || rank < best.rank || (rank === best.rank && batch > best.after.batch))
      best = { rank, after: { ...setting, way, batch } };
  }
  if (best) return [best.after];

  const flops = tables.flops[setting.model][length];
  const asItIs = leastGpus(tables, setting, card);
  let least = null;
  for (let way = 0; way < ways; way += 1) {
    const gpus = order[2 * way] === "-" ? 0 : leastGpus(tables, { ...setting, way }, card);
    if (gpus && (!least || gpus < least.gpus || (gpus === least.gpus && flops[way] < flops[least.way])))
      least = { ...setting, way, gpus };
  }
  const found = asItIs ? [{ ...setting, gpus: asItIs }] : [];
  return least && (!asItIs || least.gpus < asItIs) ? [...found, least] : found;
}

/* The least number of GPUs on which it fits: 2, 4 or a multiple of 8; 0 if none is enough. */
function leastGpus(tables, setting, card) {
  const numbers = [2, 4];
  for (let gpus = 8; gpus <= tables.mostGpus; gpus += 8) numbers.push(gpus);
  const enough = (gpus) => account(tables, { ...setting, gpus }).total <= card;
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (enough(numbers[middle])) high = middle;
    else low = middle + 1;
  }
  return numbers[low] ?? 0;
}

// ---- words

const whole = new Intl.NumberFormat("en-US");
const tenths = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const commas = (value) => whole.format(value);

/* In GB of 10⁹ bytes, or what is small in MB. */
function size(bytes) {
  if (bytes >= 0.95e9) return `${tenths.format(bytes / 1e9)}\u00a0GB`;
  return bytes >= 1e8 ? `${(bytes / 1e9).toFixed(2)}\u00a0GB` : `${Math.round(bytes / 1e6)}\u00a0MB`;
}

const chunked = (tables, way) => way >= tables.recompute.length;
const recompute = (tables, way) => tables.recompute[way % tables.recompute.length];

function changes(tables, before, after) {
  const found = [];
  if (after.gpus !== before.gpus) found.push(`${commas(after.gpus)} GPUs`);
  if (after.batch !== before.batch) found.push(`batch ${commas(after.batch)}, accumulated`);
  if (chunked(tables, after.way) !== chunked(tables, before.way))
    found.push(`loss in chunks of ${commas(tables.chunk)} tokens`);
  if (recompute(tables, after.way) !== recompute(tables, before.way))
    found.push(`recompute ${recompute(tables, after.way)}`);
  return found.join(" + ");
}

function moreFlops(tables, before, after) {
  const flops = tables.flops[before.model][tables.seqs.indexOf(before.seq)];
  const extra = flops[after.way] / flops[before.way] - 1;
  if (Math.abs(extra) < 5e-5) return "no more FLOPs";
  return `${(100 * Math.abs(extra)).toFixed(1)}\u00a0% ${extra > 0 ? "more" : "fewer"} FLOPs`;
}

/* Whether it fits, and what can be done, as parts of a sentence. */
function verdict(tables, setting, card) {
  const { total } = account(tables, setting);
  if (total <= card) {
    const free = card - total;
    const most = largestBatch(tables, setting, card);
    const more = most > setting.batch ? `Up to ${commas(most)} sequences fit at once.` : "Not one sequence more fits.";
    const tight = free < card / 10 ? ", less than a tenth: tight" : "";
    return [html("strong", {}, "✓ Fits."), ` ${size(free)} of each GPU are free${tight}. ${more}`];
  }
  const words = [html("strong", {}, "✗ Does not fit:"), ` ${size(total - card)} more than each GPU has. `];
  const found = remedies(tables, setting, card);
  if (!found.length) {
    words.push("Nothing known here makes it fit, as more GPUs do not divide activations. ");
    words.push("Shorter sequences do, or tensor, sequence or context parallelism.");
    return words;
  }
  found.forEach((after, i) => {
    const change = html("strong", { class: "change" }, changes(tables, setting, after));
    const figures = ` (${size(account(tables, after).total)}, ${moreFlops(tables, setting, after)})`;
    words.push(i ? ", or " : "Cheapest change: ", change, figures);
  });
  words.push(".");
  return words;
}

/* What each part is, for these settings. */
function meaning(tables, { precision, gpus, way }, { peakAt }) {
  const state = tables.precisions[precision].map(
    (bytes) => `${bytes} bytes per parameter${gpus > 1 ? ` ÷ ${commas(gpus)}` : ""}`,
  );
  const atLoss = peakAt === "loss";
  const inLayer = recompute(tables, way) === "none" ? "gradients in the last layer" : "recomputed layer, gradients";
  return {
    weights: state[0],
    grads: state[1],
    optimizer: state[2],
    gathered: gpus > 1 ? "one layer whole, its gradient" : "nothing, on one GPU",
    activations: "what all layers keep",
    loss_head: atLoss ? "final norm, log-probabilities" : "the peak comes later",
    transients: atLoss ? "gradients at the loss" : inLayer,
  };
}

// ---- the drawing

/* The smallest of 1, 2, 5, 10, … that cuts `span` into at most `pieces`. */
function stepFor(span, pieces) {
  for (let power = 1; ; power *= 10)
    for (const digit of [1, 2, 5]) if (span / (digit * power) <= pieces) return digit * power;
}

/* Fills that differ in their pattern, too; `of` names the one of a part. */
function fills() {
  const prefix = `memory-${Math.random().toString(36).slice(2)}-`;
  const marks = {
    grads: "M2 2h2v2h-2zM6 6h2v2h-2z",
    optimizer: "M-1 9L9 -1M-1 1L1 -1M7 9L9 7",
    loss_head: "M2 0V8M6 0V8",
    transients: "M0 2H8M0 6H8",
  };
  const patterns = Object.entries(marks).map(([part, d]) => {
    const box = { id: prefix + part, width: 8, height: 8, patternUnits: "userSpaceOnUse" };
    const ground = svg("rect", { class: `ground ${part}`, width: 8, height: 8 });
    return svg("pattern", box, ground, svg("path", { class: `mark ${part}`, d }));
  });
  const store = svg(
    "svg",
    { class: "fills", width: 0, height: 0, "aria-hidden": "true" },
    svg("defs", {}, ...patterns),
  );
  return { store, of: (part) => (part in marks ? { fill: `url(#${prefix}${part})` } : {}) };
}

function plot(width, { parts, total }, card, cardName, fill) {
  const scale = (width - 2 * SIDE) / Math.max(total, card);
  const [x, bottom] = [(bytes) => SIDE + bytes * scale, TOP + THICK];
  const label = `A bar of ${size(total)}, beside ${cardName} that each GPU has. The parts stand in the table below.`;
  const picture = svg("svg", { class: "plot", width, height: bottom + BOTTOM, role: "img", "aria-label": label });
  const text = (at, up, words, anchor) => svg("text", { x: at, y: up, "text-anchor": anchor }, words);

  const step = stepFor(Math.max(total, card) / 1e9, width < 400 ? 4 : 8);
  for (let gb = 0; gb * 1e9 <= Math.max(total, card); gb += step) {
    picture.append(svg("path", { class: "grid", d: `M${x(gb * 1e9)} ${bottom}v5` }));
    const last = x(gb * 1e9) > width - 24;
    const number = text(x(gb * 1e9), bottom + 18, commas(gb), last ? "end" : "middle");
    number.classList.add("tick");
    picture.append(number);
  }
  picture.append(text(width - 2, bottom + 34, "GB on each GPU", "end"));

  picture.append(svg("rect", { class: "room", x: x(0), y: TOP, width: card * scale, height: THICK }));
  let end = 0;
  for (const { part } of PARTS) {
    const box = { class: `part ${part}`, x: x(end), y: TOP + 4, width: parts[part] * scale, height: THICK - 8 };
    if (parts[part]) picture.append(svg("rect", { ...box, ...fill(part) }));
    end += parts[part];
  }
  const limit = x(card);
  picture.append(svg("path", { class: "limit", d: `M${limit} ${TOP - 5}V${bottom + 5}` }));
  const words = `GPU: ${cardName}`;
  picture.append(limit > width / 2 ? text(limit, TOP - 10, words, "end") : text(limit, TOP - 10, words, "start"));
  return picture;
}

// ---- the widget

export default {
  render({ model, el }) {
    const tables = model.get("tables");
    const start = model.get("start");
    const state = { ...start };
    const fill = fills();

    const setting = () => ({
      ...state,
      norms: tables.norms[state.composed ? 1 : 0],
      way: tables.recompute.indexOf(state.recompute) + (state.chunks ? tables.recompute.length : 0),
    });
    const card = () => tables.cards.find(([name]) => name === state.card);
    const spaced = (name) => name.replace(/(?<=\d)(?=[A-Z])/, "\u00a0");

    function select(words, name, options) {
      const entries = options.map((value) => html("option", { value }, value));
      const list = html("select", { name }, ...entries);
      list.value = state[name];
      list.addEventListener("change", () => choose({ [name]: list.value }));
      return html("label", { class: "slider" }, html("span", {}, words), list);
    }
    function slider(words, name, stops, shown = commas) {
      const range = { type: "range", name, min: 0, max: stops.length - 1, step: 1, value: stops.indexOf(state[name]) };
      const [input, output] = [html("input", range), html("output")];
      input.stops = stops;
      const show = () => {
        output.textContent = shown(state[name]);
        input.setAttribute("aria-valuetext", shown(state[name]));
      };
      input.addEventListener("input", () => {
        choose({ [name]: stops[input.value] });
        show();
      });
      show();
      return html("label", { class: "slider" }, html("span", {}, words), input, output);
    }
    function box(words, name) {
      const input = html("input", { type: "checkbox", name });
      input.checked = state[name];
      input.addEventListener("change", () => choose({ [name]: input.checked }));
      return html("label", {}, input, words);
    }
    const settings = html(
      "div",
      { class: "settings" },
      select("Model", "model", Object.keys(tables.states)),
      select("Precision", "precision", Object.keys(tables.precisions)),
      slider("Tokens", "seq", tables.seqs),
      slider("Sequences", "batch", tables.batches),
      slider("GPUs", "gpus", tables.gpus),
      slider(
        "Each GPU",
        "card",
        tables.cards.map(([name]) => name),
        spaced,
      ),
    );
    const recomputes = tables.recompute.map((value) => [value, value]);
    const policies = radios("Recompute", "recompute", recomputes, state.recompute, (recompute) => choose({ recompute }));
    const variants = html(
      "fieldset",
      {},
      html("legend", {}, "Variants"),
      box(`loss in chunks of ${commas(tables.chunk)} tokens`, "chunks"),
      box("norms made of single operations", "composed"),
    );

    const said = html("p", { class: "said", "aria-live": "polite" });
    const drawing = html("div");
    const rows = Object.fromEntries(
      PARTS.map(({ part, name }) => {
        const rect = svg("rect", { class: `part ${part}`, x: 1, y: 1, width: 16, height: 12, ...fill.of(part) });
        const swatch = svg("svg", { class: "swatch", width: 18, height: 14, "aria-hidden": "true" }, rect);
        const [what, amount] = [html("small"), html("td")];
        const row = html("tr", { class: part }, html("th", { scope: "row" }, swatch, name, " ", what), amount);
        return [part, { row, what, amount }];
      }),
    );
    const total = html("td");
    const sum = html("tr", { class: "total" }, html("th", { scope: "row" }, "together"), total);
    const store = html(
      "table",
      { class: "account" },
      html("tbody", {}, ...PARTS.map(({ part }) => rows[part].row), sum),
    );
    const scroll = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "The account in bytes" });
    const details = html("details", {}, html("summary", {}, "The numbers in bytes"), scroll);

    let width = 0;
    function draw() {
      const [name, bytes] = card();
      const found = account(tables, setting());
      drawing.replaceChildren(plot(Math.max(width, 240), found, bytes, spaced(name), fill.of));
    }

    function bytesTable({ parts, total: all, atLoss, inLayer }) {
      const line = (words, bytes) => html("tr", {}, html("th", { scope: "row" }, words), html("td", {}, commas(bytes)));
      const lines = PARTS.map(({ part, name }) => line(name, parts[part]));
      lines.push(line("together", all), line("all but states, at the loss", atLoss));
      lines.push(line("all but states, in the last layer", inLayer));
      const head = ["On each GPU", "Bytes"].map((words) => html("th", { scope: "col" }, words));
      return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...lines));
    }

    function choose(change) {
      Object.assign(state, change);
      const now = setting();
      const found = account(tables, now);
      said.replaceChildren(...verdict(tables, now, card()[1]));
      const meanings = meaning(tables, now, found);
      for (const { part } of PARTS) {
        rows[part].what.textContent = meanings[part];
        rows[part].amount.textContent = found.parts[part] ? size(found.parts[part]) : "0";
      }
      total.textContent = size(found.total);
      scroll.replaceChildren(bytesTable(found));
      draw();
    }

    /* Room for the longest of what may be said. */
    function makeRoom() {
      const change = `1,000 GPUs + loss in chunks of ${commas(tables.chunk)} tokens + recompute selective`;
      const figures = " (1,000.0\u00a0GB, 10.0\u00a0% fewer FLOPs)";
      const lead = "✗ Does not fit: 10,000.0\u00a0GB more than each GPU has. ";
      reserve(said, [
        [
          `${lead}Cheapest change: `,
          html("strong", {}, "1,000 GPUs"),
          `${figures}, or `,
          html("strong", {}, change),
          figures,
        ],
      ]);
    }

    const controls = html("div", { class: "controls" }, policies, variants);
    const steer = html("div", {}, settings, controls);
    const form = html("form", { autocomplete: "off" }, steer, drawing, said, store, details, fill.store);
    choose({});
    const redraw = (room) => {
      width = room;
      makeRoom();
      draw();
    };
    return framed({ model, el, kind: "memory-account", form, steer, drawing, redraw });
  },
};
