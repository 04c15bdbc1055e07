/* An experiment to steer: three estimators of the gradient of E f(x) by the mean of a normal x, each as a cloud.

   The interface is anywidget's. `start` has the `case` (a function), `mu`, `sigma`, `baseline` and `n` that are shown
   first, `stops` where each can be, `words` the functions in words, and `cloud` the number of estimates in a cloud.
   The noise and the closed forms are those of course/experiments/estimators.py. */

const BAND = 84; // of the picture, for each estimator
const ROWS = [
  ["score", "score function"],
  ["baseline", "score function with b"],
  ["path", "path"],
];

// ---- functions and their moments: E f', E f ε², E f² ε², the path's mean and variance

/* The standard normal's distribution function, by Simpson's rule from 0. */
function below(a) {
  const [steps, end] = [400, Math.min(Math.abs(a), 9)];
  let sum = 0;
  for (let i = 0; i <= steps; i += 1) sum += (i === 0 || i === steps ? 1 : i % 2 ? 4 : 2) * Math.exp(-(((end * i) / steps) ** 2) / 2);
  return 0.5 + (Math.sign(a) * sum * end) / steps / 3 / Math.sqrt(2 * Math.PI);
}

function sine(k) {
  return {
    f: (x) => Math.sin(k * x),
    slope: (x) => k * Math.cos(k * x),
    exact(mu, sigma) {
      const v = (k * sigma) ** 2;
      const gradient = k * Math.cos(k * mu) * Math.exp(-v / 2);
      const twice = (1 - Math.cos(2 * k * mu) * (1 - 4 * v) * Math.exp(-2 * v)) / 2;
      const path = (k ** 2 * (1 + Math.cos(2 * k * mu) * Math.exp(-2 * v))) / 2 - gradient ** 2;
      return { gradient, once: Math.sin(k * mu) * (1 - v) * Math.exp(-v / 2), twice, pathMean: gradient, path };
    },
  };
}

const FUNCTIONS = {
  square: {
    f: (x) => x * x,
    slope: (x) => 2 * x,
    exact: (mu, sigma) => ({
      gradient: 2 * mu,
      once: mu ** 2 + 3 * sigma ** 2,
      twice: mu ** 4 + 18 * mu ** 2 * sigma ** 2 + 15 * sigma ** 4,
      pathMean: 2 * mu,
      path: 4 * sigma ** 2,
    }),
  },
  sin: sine(1),
  sin10: sine(10),
  step: {
    f: (x) => (x > 0 ? 1 : 0),
    slope: () => 0,
    exact(mu, sigma) {
      const a = mu / sigma;
      const density = Math.exp(-(a ** 2) / 2) / Math.sqrt(2 * Math.PI);
      const once = below(a) - a * density;
      return { gradient: density / sigma, once, twice: once, pathMean: 0, path: 0 };
    },
  },
};

/* n standard normal numbers, the same for the same draw: Box and Muller's of mulberry32. */
function noise(draw, n) {
  let a = draw | 0;
  const uniform = () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return Array.from({ length: n }, () => {
    const radius = Math.sqrt(-2 * Math.log1p(-uniform()));
    return radius * Math.cos(2 * Math.PI * uniform());
  });
}

/* What each estimator has drawn, and what its mean and standard deviation are exactly. */
function measure({ case: name, mu, sigma, baseline, n, draw }, cloud) {
  const { f, slope, exact } = FUNCTIONS[name];
  const eps = noise(draw, cloud * n);
  const made = {
    score: (x, e) => (f(x) * e) / sigma,
    baseline: (x, e) => ((f(x) - baseline) * e) / sigma,
    path: (x) => slope(x),
  };
  const exactly = exact(mu, sigma);
  const { gradient, once, twice } = exactly;
  const score = (b) => (twice - 2 * b * once + b * b) / sigma ** 2 - gradient ** 2;
  const variances = { score: score(0), baseline: score(baseline), path: exactly.path };
  const drawn = ROWS.map(([key, words]) => {
    const estimates = Array.from({ length: cloud }, (_, i) => {
      let sum = 0;
      for (let k = i * n; k < (i + 1) * n; k += 1) sum += made[key](mu + sigma * eps[k], eps[k]);
      return sum / n;
    });
    const mean = estimates.reduce((sum, one) => sum + one, 0) / cloud;
    const spread = Math.sqrt(estimates.reduce((sum, one) => sum + (one - mean) ** 2, 0) / cloud);
    const expected = key === "path" ? exactly.pathMean : gradient;
    return { key, words, estimates, mean, spread, expected, single: variances[key], predicted: Math.sqrt(Math.max(0, variances[key]) / n) };
  });
  return { drawn, gradient, best: once, least: score(once) };
}

// ---- numbers and the drawing

function number(value, digits = 2) {
  const text = Math.abs(value) < 0.5 * 10 ** -digits ? (0).toFixed(digits) : value.toFixed(digits);
  return text.replace("-", "−");
}

/* Ticks at round numbers from `low` to `high`, about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const by = power * [1, 2, 5, 10].find((one) => power * one >= rough);
  const first = Math.ceil(low / by);
  return Array.from({ length: Math.floor(high / by) - first + 1 }, (_, i) => Number(((first + i) * by).toPrecision(12)));
}

function plot(width, { drawn, gradient }) {
  const [left, right, top] = [8, width - 8, 30];
  const bottom = top + BAND * drawn.length;
  // As wide as single samples scatter, so that a cloud of means is seen to shrink.
  const reach = Math.max(2.2 * Math.sqrt(Math.max(...drawn.map(({ single }) => single))), 1.3 * Math.abs(gradient), 0.2);
  const x = (value) => left + ((value - gradient + reach) / (2 * reach)) * (right - left);
  const text = (at, y, words, anchor = "start", kind = "") => svg("text", { x: at, y, "text-anchor": anchor, class: kind }, words);
  const label = "Three clouds of estimates around the exact gradient. Their means and standard deviations are in the table below.";
  const picture = svg("svg", { class: "plot", width, height: bottom + 40, role: "img", "aria-label": label });
  for (const tick of ticks(gradient - reach, gradient + reach, width < 480 ? 4 : 8)) {
    picture.append(svg("path", { class: "grid", d: `M${x(tick)} ${top}V${bottom}` }));
    picture.append(text(x(tick), bottom + 16, String(tick).replace("-", "−"), "middle"));
  }
  picture.append(svg("path", { class: "truth", d: `M${x(gradient)} ${top - 6}V${bottom}` }));
  picture.append(text(x(gradient), top - 11, "the gradient", "middle"), text(right, bottom + 34, "estimate", "end"));
  drawn.forEach(({ key, words, estimates, mean, spread }, row) => {
    const [up, middle] = [top + row * BAND, top + row * BAND + 0.62 * BAND];
    const group = svg("g", { class: `cloud ${key}` });
    if (row) picture.append(svg("path", { class: "grid", d: `M${left} ${up}H${right}` }));
    estimates.forEach((estimate, i) => {
      const at = Math.min(right - 3, Math.max(left + 3, x(estimate)));
      const out = x(estimate) < left || x(estimate) > right;
      const jitter = (((i * 0.61803) % 1) - 0.5) * BAND * 0.5;
      group.append(svg("circle", { class: out ? "out" : "in", cx: at.toFixed(1), cy: (middle + jitter).toFixed(1), r: 2.4 }));
    });
    const [from, to] = [mean - spread, mean + spread].map((value) => Math.min(right, Math.max(left, x(value))));
    group.append(svg("path", { class: "bar", d: `M${from} ${middle}H${to}` }), svg("circle", { class: "mean", cx: x(mean), cy: middle, r: 5 }));
    picture.append(group, text(left + 2, up + 16, words, "start", "name"));
  });
  return picture;
}

function table({ drawn }, n) {
  const head = ["", "exact mean", "drawn", "exact sd", "drawn"].map((words) => html("th", { scope: "col" }, words));
  const rows = drawn.map(({ key, words, mean, spread, expected, predicted }) => {
    const cells = [expected, mean, predicted, spread].map((value) => html("td", {}, number(value, n > 1 ? 3 : 2)));
    return html("tr", { "data-key": key }, html("th", { scope: "row" }, words), ...cells);
  });
  return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...rows));
}

/* What there is to notice. */
function sentence({ drawn, gradient, best, least }, { baseline }) {
  const [score, based, path] = drawn;
  const said = [html("strong", {}, `The gradient is ${number(gradient, 3)}. `)];
  const times = (more, fewer) => number(more / fewer, more / fewer < 9.95 ? 1 : 0);
  if (!path.single) said.push(`The path has no spread and the wrong mean, ${number(path.expected)} in every draw: no number of samples mends that. `);
  else if (path.single < score.single) said.push(`One sample of the score function scatters with ${times(score.single, path.single)} times the path's variance. `);
  else said.push(`Here the path is the worse one: ${times(path.single, score.single)} times the score function's variance. `);
  if (!baseline) said.push(`Without a baseline the two score functions are one. The best b is ${number(best)}.`);
  else if (Math.abs(based.single - score.single) < 1e-9 * score.single) said.push(`This baseline changes no variance: b is twice the best one, ${number(best)}.`);
  else if (based.single > score.single) said.push(`This baseline makes it worse: variance ${number(based.single)} instead of ${number(score.single)}. The mean stays. The best b is ${number(best)}.`);
  else said.push(`The baseline cuts the variance from ${number(score.single)} to ${number(based.single)}, and the mean stays. The best b, ${number(best)}, gives ${number(least)}.`);
  return said;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [start, stops, words, cloud] = ["start", "stops", "words", "cloud"].map((name) => model.get(name));
    const state = { ...start, draw: 1 };

    const set = (name) => (value) => {
      state[name] = value;
      update();
    };
    const sliders = {};
    function slider(title, name) {
      sliders[name] = stopsSlider(title, name, stops[name], state[name], set(name));
      return sliders[name].label;
    }
    const which = radios("f(x)", "f", stops.case.map((value) => [value, words[value]]), state.case, set("case"));
    const parameters = html("div", { class: "sliders" }, slider("μ", "mu"), slider("σ", "sigma"), slider("b", "baseline"), slider("samples", "n"));
    const again = html("button", { type: "button" }, "Draw again");
    const drawn = html("input", { type: "hidden", name: "draw", value: "1" });
    again.addEventListener("click", () => {
      state.draw += 1;
      update();
    });
    drawn.addEventListener("input", () => {
      const draw = Number(drawn.value);
      state.draw = Number.isInteger(draw) && draw > 0 && draw < 1e6 ? draw : 1;
      update();
    });

    const stage = html("div");
    const said = html("p", { class: "said", "aria-live": "polite" });
    const numbers = html("div", { class: "figures" });
    let [width, now] = [0, null];
    const draw = () => stage.replaceChildren(plot(Math.max(width, 240), now));
    function update() {
      for (const [name, { input, shown }] of Object.entries(sliders)) {
        shown.textContent = name === "n" ? `${state.n}` : number(state[name]);
        input.setAttribute("aria-valuetext", shown.textContent);
      }
      drawn.value = state.draw;
      now = measure(state, cloud);
      said.replaceChildren(...sentence(now, state));
      numbers.replaceChildren(table(now, state.n));
      draw();
    }

    const controls = html("div", { class: "controls" }, which, parameters, again, drawn);
    const form = html("form", { autocomplete: "off" }, controls, stage, said, numbers);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "estimators", form, steer: controls, drawing: stage, redraw });
  },
};
