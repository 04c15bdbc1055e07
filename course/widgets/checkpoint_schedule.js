/* An experiment to steer: the schedule of a checkpointed chain of layers, and what is held while it runs.

   The interface is anywidget's. `schedules` maps "layers/policy/number", as in "32/segments/6", to the events of
   course.experiments.schedules, two letters each: s, r, t, b, f for store, run, tape, back, free, and a layer, counted
   from 0, in base 32. `start` is the key that is shown first. */

const POLICIES = {
  everything: "everything",
  layers: "every layer's input",
  segments: "inputs of segments",
  slots: "inputs in slots",
};
const HEIGHT = { rows: 210, between: 30, memory: 90, top: 24, bottom: 40 };
const LEFT = 34;
const RIGHT = 10;

// ---- a schedule, step by step

/* `steps`, each with what is done, the layer and what is held meanwhile; `bars`, for how long each thing is held. */
function unfold(text) {
  const [steps, bars] = [[], []];
  const [inputs, tapes, ran] = [new Map(), new Map(), new Set()];
  const hold = (kind, map, layer) => map.set(layer, { kind, layer, from: steps.length });
  const letGo = (map, layer) => {
    bars.push({ ...map.get(layer), to: steps.length });
    map.delete(layer);
  };
  for (const [, kind, letter] of text.matchAll(/(.)(.)/g)) {
    const layer = parseInt(letter, 32);
    if (kind === "s") hold("input", inputs, layer);
    else if (kind === "f") letGo(inputs, layer);
    else {
      if (kind === "t") hold("tape", tapes, layer);
      const what = kind === "b" ? "back" : ran.has(layer) ? "again" : "forward";
      ran.add(layer);
      steps.push({ what, layer, taped: kind === "t", inputs: [...inputs.keys()], tapes: [...tapes.keys()] });
      if (kind === "b") letGo(tapes, layer);
    }
  }
  const held = steps.map((step) => step.inputs.length + step.tapes.length);
  const peak = Math.max(...held);
  const again = steps.filter((step) => step.what === "again").length;
  return { steps, bars, held, peak, again, highest: held.indexOf(peak) };
}

// ---- words

const some = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

/* Layers, counted from 1, with dashes for runs: 1, 6, 11–13. */
function list(layers) {
  const runs = [];
  for (const layer of [...layers].sort((a, b) => a - b))
    if (runs.length && runs.at(-1)[1] === layer) runs.at(-1)[1] = layer + 1;
    else runs.push([layer + 1, layer + 1]);
  return runs
    .map(([first, last]) => (first === last ? first : `${first}${last - first > 1 ? "–" : ", "}${last}`))
    .join(", ");
}

function happens({ what, layer, taped }) {
  const runs = { forward: "runs", again: "runs again" }[what];
  if (!runs) return `backward goes through layer ${layer + 1}`;
  return `layer ${layer + 1} ${runs}${taped ? " and keeps its activation" : ""}`;
}

function holds({ inputs, tapes }) {
  const parts = [];
  const which = (layers) => `layer${layers.length === 1 ? "" : "s"}\u00a0${list(layers)}`;
  if (inputs.length) parts.push(`${some(inputs.length, "input")} (${which(inputs)})`);
  if (tapes.length) parts.push(`${some(tapes.length, "activation")} (${which(tapes)})`);
  return parts.length ? `${inputs.length + tapes.length} held: ${parts.join(" and ")}.` : "Nothing is held.";
}

// ---- the drawing

/* The smallest of 1, 2, 5, 10, … that cuts `span` into at most `pieces`. */
const stepFor = (span, pieces) => [1, 2, 5, 10, 20, 50, 100, 200].find((step) => span / step <= pieces) ?? 500;

function plot(width, layers, { steps, bars, held, peak }) {
  const right = width - RIGHT;
  const top = HEIGHT.top;
  const floor = top + HEIGHT.rows;
  const [ceiling, bottom] = [floor + HEIGHT.between, floor + HEIGHT.between + HEIGHT.memory];
  const x = (time) => LEFT + (time / steps.length) * (right - LEFT);
  const row = HEIGHT.rows / layers;
  const y = (layer) => floor - layer * row;
  const level = (count) => bottom - (count / (layers + 1)) * HEIGHT.memory;
  const height = bottom + HEIGHT.bottom;
  const label = "The schedule, time from left to right, and below it how much is held. The text below says each step.";
  const picture = svg("svg", { class: "plot", width, height, role: "img", "aria-label": label });
  const text = (at, up, words, anchor) => svg("text", { x: at, y: up, "text-anchor": anchor }, words);
  const path = (kind, d) => picture.append(svg("path", { class: kind, d }));

  picture.append(text(2, 13, "layer", "start"), text(2, ceiling - 8, "held", "start"));
  const every = stepFor(layers, 8);
  for (let layer = 1; layer <= layers; layer += 1)
    if (layer === 1 || layer % every === 0) picture.append(text(LEFT - 6, y(layer - 0.5) + 4, String(layer), "end"));
  path("axis", `M${LEFT} ${top}V${floor}H${right}M${LEFT} ${ceiling}V${bottom}H${right}`);
  picture.append(text(LEFT - 6, level(layers) + 4, String(layers), "end"), text(LEFT - 6, bottom + 4, "0", "end"));
  const tick = stepFor(steps.length, width < 400 ? 5 : 10);
  for (let time = 0; time <= steps.length; time += tick)
    picture.append(text(x(time), bottom + 16, String(time), "middle"));
  picture.append(text(right, height - 6, "steps run", "end"));

  const thick = Math.min(4, row / 2.5);
  for (const { kind, layer, from, to } of bars)
    if (kind === "tape") path("tape", `M${x(from)} ${y(layer)}H${x(to)}v${-row}H${x(from)}z`);
  for (const { kind, layer, from, to } of bars)
    if (kind === "input") path("input", `M${x(from)} ${y(layer)}H${x(to)}v${-thick}H${x(from)}z`);
  const wide = x(1) - x(0);
  for (const what of ["forward", "again", "back"]) {
    const cells = steps.map((step, i) =>
      step.what === what ? `M${x(i)} ${y(step.layer)}h${wide}v${-row}h${-wide}z` : "",
    );
    path(`cell ${what}`, cells.join(""));
  }

  const curve = (counts) => `M${x(0)} ${bottom}${counts.map((n, i) => `V${level(n)}H${x(i + 1)}`).join("")}V${bottom}z`;
  path("tape", curve(held));
  path("input deep", curve(steps.map((step) => step.inputs.length)));
  path("peak", `M${LEFT} ${level(peak)}H${right}`);
  picture.append(text(right, level(peak) - 4, `peak ${peak}`, "end"));

  const cursor = svg("g", { class: "cursor" });
  picture.append(cursor);
  function move(now) {
    const { what, layer, inputs, tapes } = steps[now];
    const at = x(now + 0.5);
    const dot = (kind, up) =>
      svg("circle", { class: `dot ${kind}`, cx: at, cy: up, r: Math.min(3.5, Math.max(2, row / 3)) });
    const ring = {
      class: `ring ${what}`,
      x: at - Math.max(4, wide / 2 + 1),
      y: y(layer) - row / 2 - Math.max(4, row / 2 + 1),
    };
    cursor.replaceChildren(
      svg("path", { d: `M${at} ${top}V${bottom}` }),
      ...tapes.map((held) => dot("tape", y(held + 0.5))),
      ...inputs.map((held) => dot("input", y(held) - thick / 2)),
      svg("rect", { ...ring, width: 2 * (at - ring.x), height: 2 * Math.max(4, row / 2 + 1) }),
    );
  }
  const timeAt = (px) =>
    Math.min(steps.length - 1, Math.max(0, Math.floor(((px - LEFT) / (right - LEFT)) * steps.length)));
  return { picture, move, timeAt };
}

function table(rows, chosen) {
  const columns = ["Policy", "Peak", "Layers run again"];
  const head = html("tr", {}, ...columns.map((words) => html("th", { scope: "col" }, words)));
  const body = rows.map(({ key, name, peak, again }) => {
    const mark = key === chosen ? { class: "chosen", "aria-current": "true" } : {};
    return html(
      "tr",
      mark,
      html("th", { scope: "row" }, name),
      html("td", {}, String(peak)),
      html("td", {}, String(again)),
    );
  });
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...body));
}

// ---- the widget

export default {
  render({ model, el }) {
    const schedules = model.get("schedules");
    const keys = Object.keys(schedules).map((key) => key.split("/"));
    const [first, firstPolicy, firstNumber] = model.get("start").split("/");
    const lengths = [...new Set(keys.map(([layers]) => Number(layers)))].sort((a, b) => a - b);
    const numbers = (layers, policy) =>
      keys
        .filter(([l, p]) => Number(l) === layers && p === policy)
        .map(([, , number]) => Number(number))
        .sort((a, b) => a - b);
    const state = { layers: Number(first), policy: firstPolicy, segments: 1, slots: 3, now: 0 };
    if (firstPolicy in state) state[firstPolicy] = Number(firstNumber);
    const wanted = { segments: state.segments, slots: state.slots }; // what the reader chose; fewer layers may allow less

    function slider(words, name, change) {
      const input = html("input", { type: "range", name, min: 0, step: 1 });
      const shown = html("output");
      input.addEventListener("input", () => change(Number(input.value)));
      const label = html("label", { class: "slider" }, html("span", {}, words), input, shown);
      const set = (stops, value) => {
        input.stops = stops;
        input.max = stops.length - 1;
        input.value = stops.indexOf(value);
        input.setAttribute("aria-valuetext", value);
        shown.textContent = value;
      };
      return { label, input, set };
    }
    const controls = {
      layers: slider("Layers", "layers", (i) => choose({ layers: lengths[i] })),
      segments: slider("Segments", "segments", (i) => choose({ segments: i + 1 })),
      slots: slider("Slots", "slots", (i) => choose({ slots: i + 1 })),
    };
    const policies = radios("Keep", "policy", Object.entries(POLICIES), state.policy, (policy) => choose({ policy }));

    const [drawing, stage] = [html("div", { class: "drawing" }), html("div")];
    const scrubber = html("input", {
      type: "range",
      name: "time",
      class: "time",
      min: 1,
      step: 1,
      "aria-label": "Time",
    });
    scrubber.addEventListener("input", () => go(scrubber.value - 1));
    drawing.append(stage, scrubber);
    const moment = html("p", { class: "moment" });
    const verdict = html("p", { class: "verdict", "aria-live": "polite" });
    const scroll = html("div", {
      class: "numbers",
      tabindex: 0,
      role: "region",
      "aria-label": "Peak and runs of each policy",
    });
    const summary = html("summary");
    const details = html("details", {}, summary, scroll);
    const legend = html("div", { class: "legend" });
    for (const [kind, words] of [
      ["cell forward", "forward"],
      ["cell again", "run again"],
      ["cell back", "backward"],
      ["input", "input held"],
      ["tape", "activation held"],
    ]) {
      const mark = svg("path", { class: kind, d: kind === "input" ? "M1 4h16v4h-16z" : "M1 1h16v10h-16z" });
      legend.append(
        html("span", {}, svg("svg", { class: "swatch", width: 18, height: 12, "aria-hidden": "true" }, mark), words),
      );
    }

    let [shown, drawn, width] = [null, null, 0];

    const keyOf = ({ layers, policy, segments, slots }) =>
      ({
        everything: `${layers}/everything/0`,
        layers: `${layers}/segments/${layers}`,
        segments: `${layers}/segments/${segments}`,
        slots: `${layers}/slots/${slots}`,
      })[policy];

    function go(now) {
      state.now = now;
      const step = shown.steps[now];
      scrubber.value = now + 1;
      const words = `Step ${now + 1} of ${shown.steps.length}: ${happens(step)}.`;
      scrubber.setAttribute("aria-valuetext", `${words} ${holds(step)}`);
      moment.replaceChildren(words, html("br"), holds(step));
      drawn.move(now);
    }

    function draw() {
      drawn = plot(Math.max(width, 280), state.layers, shown);
      stage.replaceChildren(drawn.picture);
      drawn.move(state.now);
    }

    function choose(change) {
      Object.assign(state, change);
      for (const kind of ["segments", "slots"]) {
        if (kind in change) wanted[kind] = change[kind];
        const stops = numbers(state.layers, kind);
        state[kind] = Math.min(wanted[kind], stops.at(-1));
        controls[kind].set(stops, state[kind]);
        controls[kind].input.disabled = state.policy !== kind;
        controls[kind].label.classList.toggle("off", state.policy !== kind);
      }
      controls.layers.set(lengths, state.layers);
      const key = keyOf(state);
      shown = unfold(schedules[key]);
      const { steps, peak, again, highest } = shown;
      const { inputs, tapes } = steps[highest];
      const parts = [inputs.length && some(inputs.length, "input"), tapes.length && some(tapes.length, "activation")];
      verdict.replaceChildren(
        html("strong", {}, `Peak: ${peak}`),
        ` (${parts.filter(Boolean).join(" and ")}). `,
        html("strong", {}, `${some(again, "layer")} run again`.replace("1 layer run", "1 layer runs")),
        again ? `: ${(again / state.layers).toFixed(2)} of a forward.` : ".",
      );
      const rows = [
        { key: `${state.layers}/everything/0`, name: "everything" },
        ...numbers(state.layers, "segments").map((n) => ({
          key: `${state.layers}/segments/${n}`,
          name: some(n, "segment") + (n === state.layers ? " (every layer)" : ""),
        })),
        ...numbers(state.layers, "slots").map((n) => ({ key: `${state.layers}/slots/${n}`, name: some(n, "slot") })),
      ].map((one) => ({ ...one, ...unfold(schedules[one.key]) }));
      scroll.replaceChildren(table(rows, key));
      summary.textContent = `All policies at ${state.layers} layers, as a table`;
      scrubber.max = steps.length;
      state.now = highest;
      draw();
      go(highest);
    }

    drag(stage, (x) => go(drawn.timeAt(x)));

    const sliders = html("div", { class: "sliders" }, ...Object.values(controls).map(({ label }) => label));
    const steer = html("div", {}, policies, sliders);
    const form = html("form", { autocomplete: "off" }, steer, verdict, legend, drawing, moment, details);
    choose({});
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "checkpoint-schedule", form, steer, drawing: stage, redraw });
  },
};
