/* An experiment to steer: a weight behind a quantizer, what three backwards pass to it, and where descent takes it.

   The interface is anywidget's. `start` has the quantizer `q`, the weight `w`, the `target` of its rounded value, the
   learning `rate` and the number of `steps` that are shown first, `stops` where each can be, `quantizers` their words,
   levels and range. Steps and verdicts are those of course/experiments/straight_through.py. */

const REACH = 3.5; // of the axes, either way
const ROW = 92; // height of a descent
const NAMES = { true: "true slope", straight: "straight-through", clipped: "clipped" };

// ---- the quantizers and the descent

/* Halves go to the even neighbor, as in PyTorch. */
function rounded(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value) + 0;
  return floor % 2 ? floor + 1 : floor;
}

const FORWARD = {
  round: (w) => rounded(Math.min(2, Math.max(-2, w))),
  sign: (w) => Math.sign(w),
};

function descend({ q, w: first, target, rate, steps }, backward, limit) {
  const points = [];
  let w = first;
  for (let i = 0; i <= steps; i += 1) {
    const value = FORWARD[q](w);
    const slope = { true: 0, straight: 1, clipped: Number(Math.abs(w) <= limit) }[backward];
    const gradient = 2 * (value - target) * slope;
    points.push({ w, q: value, loss: (value - target) ** 2, slope, gradient });
    w -= rate * gradient;
  }
  return points;
}

function verdict(points, limit, recent) {
  const last = points.at(-1);
  if (!last.gradient) return last.loss < 1e-12 ? "arrived" : "stuck";
  if (Math.abs(last.w) > limit && last.w * last.gradient < 0) return "runs";
  const kept = points.slice(-recent).map(({ q }) => q).filter((value, i, all) => !i || value !== all[i - 1]);
  return kept.some((value, i) => i > 1 && value === kept[i - 2]) ? "jumps" : "on its way";
}

// ---- numbers, words and drawings

function number(value, digits = 2) {
  const text = Math.abs(value) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : value.toFixed(digits);
  return text.replace("-", "−");
}
const level = (value) => String(value + 0).replace("-", "−");

function words({ kind, points }, recent) {
  const last = points.at(-1);
  const between = [...new Set(points.slice(-recent).map(({ q }) => q))].sort((a, b) => a - b);
  return {
    arrived: `arrived at ${level(last.q)}`,
    stuck: points.some(({ w }) => w !== points[0].w) ? "stuck outside the range: gradient 0" : "never moves: gradient 0",
    runs: "beyond the range, and still runs",
    jumps: `jumps between ${between.map(level).join(" and ")}`,
    "on its way": "on its way",
  }[kind];
}

const within = (value) => Math.min(REACH, Math.max(-REACH, value));

/* A hollow circle, a full one, a square: for each backward its own. */
function marker(key, x, y) {
  if (key === "clipped") return svg("rect", { class: `spot ${key}`, x: x - 4.5, y: y - 4.5, width: 9, height: 9 });
  return svg("circle", { class: `spot ${key}`, cx: x, cy: y, r: key === "true" ? 8 : 4 });
}

/* The staircase, and at each weight the line whose slope backward takes. */
function stairs(width, { q, target }, { levels, limit }, runs) {
  const [left, right, top, bottom] = [26, width - 8, 14, 204];
  const x = (value) => left + ((value + REACH) / (2 * REACH)) * (right - left);
  const y = (value) => bottom - ((value + 2.7) / 5.4) * (bottom - top);
  const text = (at, up, says, anchor = "middle", kind = "") => svg("text", { x: at, y: up, "text-anchor": anchor, class: kind }, says);
  const label = "Rounded value against the weight, a staircase. Dashed lines show the slope that each backward takes at its weight; the table below has the numbers.";
  const picture = svg("svg", { class: "plot stairs", width, height: 240, role: "img", "aria-label": label });
  for (const tick of [-3, -2, -1, 0, 1, 2, 3]) {
    picture.append(svg("path", { class: "grid", d: `M${x(tick)} ${top}V${bottom}` }), text(x(tick), bottom + 16, level(tick)));
    if (Math.abs(tick) < 3) picture.append(text(left - 8, y(tick) + 4, level(tick), "end"));
  }
  picture.append(svg("rect", { class: "range", x: x(-limit), y: top, width: x(limit) - x(-limit), height: bottom - top }));
  picture.append(text(x(-limit) + 4, bottom - 5, `clipped passes g from ${level(-limit)} to ${level(limit)}`, "start", "note"));
  const edges = levels.slice(1).map((one, i) => (one + levels[i]) / 2);
  levels.forEach((one, i) => picture.append(svg("path", { class: "value", d: `M${x(edges[i - 1] ?? -REACH)} ${y(one)}H${x(edges[i] ?? REACH)}` })));
  const goal = Math.min(2.7, Math.max(-2.7, target));
  picture.append(svg("path", { class: "target", d: `M${left} ${y(goal)}H${right}` }), text(right, y(goal) - 4, "target", "end", "note"));
  const drawn = new Set();
  for (const { key, points } of runs) {
    const { w, q: value, slope } = points.at(-1);
    const at = within(w);
    const seen = `${at}/${slope}`;
    const half = slope ? 0.7 : 0.55;
    if (!drawn.has(seen)) picture.append(svg("path", { class: "slope", d: `M${x(at - half)} ${y(value - slope * half)}L${x(at + half)} ${y(value + slope * half)}` }));
    drawn.add(seen);
    picture.append(marker(key, x(at), y(value)));
  }
  picture.append(text(left, top - 3, q === "round" ? "rounded value" : "sign", "start"), text(right, bottom + 32, "weight w (drag)", "end"));
  return { picture, weight: (px) => ((px - left) / (right - left)) * 2 * REACH - REACH };
}

/* Each descent over the steps: the rounded value and the weight. */
function descents(width, { target, steps }, runs, recent) {
  const [left, right, top, last] = [26, width - 10, 6, 60];
  // As high as the weights and values of all rows, so that the rows can be compared.
  const shown = [target, ...runs.flatMap(({ points }) => points.flatMap(({ w, q }) => [w, q]))].map(within);
  const [low, high] = [Math.min(...shown) - 0.35, Math.max(...shown) + 0.35];
  const x = (step) => left + (step / last) * (right - left);
  const text = (at, up, says, anchor = "middle", kind = "") => svg("text", { x: at, y: up, "text-anchor": anchor, class: kind }, says);
  const label = "Weight and rounded value over the steps of descent, for each backward.";
  const picture = svg("svg", { class: "plot descents", width, height: top + ROW * runs.length + 36, role: "img", "aria-label": label });
  runs.forEach((run, row) => {
    const { key, points } = run;
    const [up, down] = [top + row * ROW + 20, top + (row + 1) * ROW - 4];
    const y = (value) => down - ((within(value) - low) / (high - low)) * (down - up);
    const group = svg("g", { class: `descent ${key}` });
    const every = high - low > 4 ? 2 : 1;
    for (const tick of [-3, -2, -1, 0, 1, 2, 3]) {
      if (tick < low || tick > high || tick % every) continue;
      group.append(svg("path", { class: "grid", d: `M${left} ${y(tick)}H${right}` }), text(left - 8, y(tick) + 4, level(tick), "end"));
    }
    group.append(svg("path", { class: "target", d: `M${left} ${y(target)}H${right}` }));
    const line = (value) => points.map((point, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value(point)).toFixed(1)}`).join("");
    const steppy = points.map(({ q }, i) => `${i ? "H" + x(i).toFixed(1) + "V" : `M${x(0)} `}${y(q).toFixed(1)}`).join("");
    group.append(svg("path", { class: "weight", d: line(({ w }) => w) }), svg("path", { class: "value", d: steppy }));
    group.append(marker(key, x(steps), y(points.at(-1).q)), marker(key, left + 9, up - 9));
    group.append(text(left + 22, up - 5, NAMES[key], "start", "name"), text(right, up - 5, words(run, recent), "end"));
    picture.append(group);
  });
  for (const step of [0, 20, 40, 60]) picture.append(text(x(step), top + ROW * runs.length + 14, String(step), step ? (step === 60 ? "end" : "middle") : "start"));
  picture.append(text((left + right) / 2, top + ROW * runs.length + 30, "step"));
  return picture;
}

function table(runs) {
  const head = ["", "w", "value", "loss", "slope", "gradient"].map((says) => html("th", { scope: "col" }, says));
  const rows = runs.map(({ key, points }) => {
    const { w, q, loss, slope, gradient } = points.at(-1);
    const cells = [number(w), level(q), number(loss), level(slope), number(gradient)].map((says) => html("td", {}, says));
    return html("tr", { "data-key": key }, html("th", { scope: "row" }, NAMES[key]), ...cells);
  });
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/* What there is to notice. */
function sentence({ target }, { levels }, runs) {
  const best = levels.reduce((one, other) => (Math.abs(other - target) < Math.abs(one - target) ? other : one));
  const said = [html("strong", {}, `The best level is ${level(best)}, with a loss of ${number((best - target) ** 2)}. `)];
  const by = Object.fromEntries(runs.map((run) => [run.key, run]));
  const { straight, clipped } = by;
  if (by.true.kind === "stuck") said.push("A small change of w changes no level, so the true gradient is 0. ");
  const last = straight.points.at(-1);
  if (straight.kind === "jumps") said.push("Straight-through pulls w across a riser, then back, and the value jumps forever. ");
  else if (straight.kind === "runs") said.push(`The target lies beyond the last level. Straight-through pushes w on, to ${number(last.w)} by now, and the value cannot follow. `);
  else if (straight.kind === "arrived") said.push("The target is a level, so straight-through arrives, and its gradient ends with the error. ");
  else said.push(`Straight-through passes ${number(last.gradient)} on, as if the value moved with w. `);
  if (clipped.kind === "stuck") said.push("Clipped, no gradient comes from outside the range: this weight stays where it is, wrong or not.");
  else if (straight.kind === clipped.kind && last.w === clipped.points.at(-1).w) said.push("Within the range clipped does the same.");
  else said.push("Clipped takes another way: outside the range it passes nothing on.");
  return said;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [start, stops, quantizers, backwards, recent] = ["start", "stops", "quantizers", "backwards", "recent"].map((name) => model.get(name));
    const state = { ...start };

    const set = (name) => (value) => {
      state[name] = value;
      update();
    };
    const sliders = {};
    function slider(title, name) {
      sliders[name] = stopsSlider(title, name, stops[name], state[name], set(name));
      return sliders[name].label;
    }
    const which = radios("Forward", "q", stops.q.map((value) => [value, quantizers[value].words]), state.q, set("q"));
    const parameters = html("div", { class: "sliders" }, slider("start w", "w"), slider("target", "target"), slider("rate", "rate"), slider("steps", "steps"));
    function move(name, at) {
      const { input } = sliders[name];
      input.value = at;
      input.dispatchEvent(new Event("input"));
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }
    const one = html("button", { type: "button" }, "One step");
    const back = html("button", { type: "button" }, "Back to the start");
    one.addEventListener("click", () => move("steps", Number(sliders.steps.input.value) + 1));
    back.addEventListener("click", () => move("steps", 0));

    const stage = html("div", { class: "stage" });
    const said = html("p", { class: "said", "aria-live": "polite" });
    const numbers = html("div", { class: "figures" });
    let [width, runs, weight] = [0, [], null];

    function draw() {
      const room = Math.max(width, 240);
      const drawn = stairs(room, state, quantizers[state.q], runs);
      weight = drawn.weight;
      stage.replaceChildren(drawn.picture, descents(room, state, runs, recent));
    }
    function update() {
      for (const [name, { input, shown }] of Object.entries(sliders)) {
        shown.textContent = name === "steps" ? `${state.steps}` : number(state[name], name === "rate" ? 2 : 1);
        input.setAttribute("aria-valuetext", shown.textContent);
      }
      const { limit } = quantizers[state.q];
      runs = backwards.map((key) => {
        const points = descend(state, key, limit);
        return { key, points, kind: verdict(points, limit, recent) };
      });
      one.disabled = state.steps === stops.steps.at(-1);
      back.disabled = !state.steps;
      said.replaceChildren(...sentence(state, quantizers[state.q], runs));
      numbers.replaceChildren(table(runs));
      draw();
    }

    // Drag along the staircase: the start is put there, and the descent begins anew.
    function put(x) {
      const at = weight(x);
      const nearest = stops.w.reduce((best, stop, i) => (Math.abs(stop - at) < Math.abs(stops.w[best] - at) ? i : best), 0);
      if (state.steps) move("steps", 0);
      if (Number(sliders.w.input.value) !== nearest) move("w", nearest);
    }
    drag(stage, put, (event) => event.target.closest(".stairs"));

    const controls = html("div", { class: "controls" }, which, parameters, html("div", {}, one, back));
    const form = html("form", { autocomplete: "off" }, controls, stage, said, numbers);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "straight_through", form, steer: controls, drawing: stage, redraw });
  },
};
