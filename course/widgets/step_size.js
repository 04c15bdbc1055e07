/* An experiment to steer: the error of a finite difference against its step, its two parts, and the digits that cancel.

   The interface is anywidget's. `tables` maps "dtype/formula" to what course/widgets/step_size.py says, for each of
   `steps`; `stops` says where the controls can be set, `start` what is shown first, `points` over how many points errors
   are averaged, and `at` where the two values are taken. */

const [LOW, HIGH] = [-12, 1]; // powers of ten on the axis of errors
const DECIMALS = { float32: 7, float64: 15 };

// ---- numbers

const raised = (exponent) => [...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");

/* 0.000023 as 2.3 × 10⁻⁵. */
function power(value) {
  const [mantissa, exponent] = value.toExponential(1).split("e");
  return `${mantissa} × 10${raised(Number(exponent))}`;
}
const step = (exponent) => (Number.isInteger(exponent) ? `10${raised(exponent)}` : power(10 ** exponent));
const times = (ratio) => (ratio < 1000 ? ratio.toPrecision(2) : power(ratio));

/* Two values as floats of this precision, their difference, exactly, and the slope. */
function subtracted({ up, down }, i, h, dtype, formula) {
  const float = dtype === "float32" ? Math.fround : (value) => value;
  const [one, other] = [float(up[i]), float(down[i])];
  return { one, other, gap: one - other, slope: (one - other) / ((formula === "central" ? 2 : 1) * float(h)) };
}

/* How many characters two texts have in common from the left. */
function shared(one, other) {
  let n = 0;
  while (n < one.length && one[n] === other[n]) n += 1;
  return n;
}

/* Which part is more than three times the other. */
function verdict(truncation, roundoff) {
  if (truncation > 3 * roundoff) return "truncation";
  return roundoff > 3 * truncation ? "round-off" : "neither";
}

// ---- the drawings

function plot(width, state, stops, steps, tables) {
  const [left, right, top] = [40, width - 8, 22];
  const bottom = top + Math.round(Math.min(300, Math.max(220, width * 0.55)));
  const [first, last] = [stops.h[0], stops.h.at(-1)];
  const x = (exponent) => left + ((exponent - first) / (last - first)) * (right - left);
  const y = (error) => bottom - ((Math.log10(error) - LOW) / (HIGH - LOW)) * (bottom - top);
  const inside = (error) => error >= 10 ** LOW && error <= 10 ** HIGH;
  const text = (at, up, words, anchor = "middle", kind = "") => svg("text", { x: at, y: up, "text-anchor": anchor, class: kind }, words);
  const label = "Relative error against the step, both on logarithmic axes: four measured curves, and the two parts of the chosen one. The table below has the numbers.";
  const picture = svg("svg", { class: "plot", width, height: bottom + 40, role: "img", "aria-label": label });
  for (let exponent = first; exponent <= last; exponent += 1) {
    picture.append(svg("path", { class: "grid", d: `M${x(exponent)} ${top}V${bottom}` }));
    if (exponent % 2 === 0) picture.append(text(x(exponent), bottom + 16, exponent ? `10${raised(exponent)}` : "1", exponent === last ? "end" : "middle"));
  }
  for (let exponent = LOW; exponent <= 0; exponent += 2) {
    picture.append(svg("path", { class: "grid", d: `M${left} ${y(10 ** exponent)}H${right}` }));
    picture.append(text(left - 5, y(10 ** exponent) + 4, exponent ? `10${raised(exponent)}` : "1", "end"));
  }
  const names = { float32: [-12.9, 0.4], float64: [-12.9, -6.4], "one-sided": [-6.2, -7.7], central: [-2.5, -8.6] };
  for (const [name, [at, up]] of Object.entries(names)) picture.append(text(x(at), y(10 ** up), name, "start", `name ${name}`));
  picture.append(text(left - 34, 13, "relative error", "start"), text(right, bottom + 33, "step h (drag)", "end"));
  const line = (errors, kind) => {
    const pieces = errors.map((error, i) => (inside(error) ? `${x(stops.h[i]).toFixed(1)} ${y(error).toFixed(1)}` : ""));
    const d = pieces.map((piece, i) => piece && `${pieces[i - 1] ? "L" : "M"}${piece}`).join("");
    picture.append(svg("path", { class: kind, d }));
  };
  const chosen = `${state.dtype}/${state.formula}`;
  for (const [key, { measured }] of Object.entries(tables))
    if (key !== chosen) line(measured, `measured other ${key.split("/")[0]}`);
  const { truncation, roundoff, measured } = tables[chosen];
  const sum = truncation.map((error, i) => error + roundoff[i]);
  line(sum, "sum");
  line(truncation, "truncation");
  line(roundoff, "roundoff");
  line(measured, `measured chosen ${state.dtype}`);

  const i = stops.h.indexOf(state.h);
  const at = x(state.h);
  picture.append(svg("path", { class: "cursor", d: `M${at} ${top}V${bottom}` }));
  const spot = (kind, error, shape) => inside(error) && picture.append(svg(...shape(y(error), `spot ${kind}`)));
  spot("truncation", truncation[i], (up, kind) => ["rect", { class: kind, x: at - 4, y: up - 4, width: 8, height: 8 }]);
  spot("roundoff", roundoff[i], (up, kind) => ["path", { class: kind, d: `M${at - 5} ${up + 4}L${at} ${up - 5}L${at + 5} ${up + 4}z` }]);
  spot("measured", measured[i], (up, kind) => ["circle", { class: kind, cx: at, cy: up, r: 4.5 }]);
  const exponentAt = (px) => first + ((px - left) / (right - left)) * (last - first);
  return { picture, exponentAt };
}

const percent = (share) => (share < 0.001 ? "< 0.1 %" : share > 0.999 ? "> 99.9 %" : `${(100 * share).toFixed(1)} %`);

/* Both parts end to end, to a linear scale: what they add up to is the whole bar. */
function bar(width, truncation, roundoff) {
  const share = truncation / (truncation + roundoff);
  const words = [`truncation ${percent(share)}`, `round-off ${percent(1 - share)}`];
  const picture = svg("svg", { class: "plot shares", width, height: 34, role: "img", "aria-label": `Of their sum: ${words.join(", ")}.` });
  const cut = share * width;
  picture.append(svg("rect", { class: "part truncation", x: 0, y: 18, width: cut, height: 14 }));
  picture.append(svg("rect", { class: "part roundoff", x: cut, y: 18, width: width - cut, height: 14 }));
  picture.append(svg("text", { x: 0, y: 13 }, words[0]), svg("text", { x: width, y: 13, "text-anchor": "end" }, words[1]));
  return picture;
}

/* A line in the legend's and the table's look. */
function mark(kind) {
  const picture = svg("svg", { class: "swatch", width: 26, height: 12, "aria-hidden": "true" });
  picture.append(svg("path", { class: kind, d: "M1 6H25" }));
  if (kind === "truncation") picture.append(svg("rect", { class: "spot truncation", x: 9, y: 2, width: 8, height: 8 }));
  if (kind === "roundoff") picture.append(svg("path", { class: "spot roundoff", d: "M8 10L13 1L18 10z" }));
  if (kind.startsWith("measured")) picture.append(svg("circle", { class: "spot measured", cx: 13, cy: 6, r: 4.5 }));
  return picture;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [tables, steps, stops, start, points, at] = ["tables", "steps", "stops", "start", "points", "at"].map((name) => model.get(name));
    const state = { ...start };
    let [width, exponentAt] = [0, null];

    const set = (name) => (value) => {
      state[name] = value;
      update();
    };
    const same = (values) => values.map((value) => [value, value]);
    const dtypes = radios("Precision", "dtype", same(stops.dtype), state.dtype, set("dtype"));
    const formulas = radios("Difference", "formula", same(stops.formula), state.formula, set("formula"));
    const { input: slider, shown, label: steered } = stopsSlider("step h", "h", stops.h, state.h, set("h"));
    const nearest = (exponent) => stops.h.reduce((best, stop, i) => (Math.abs(stop - exponent) < Math.abs(stops.h[best] - exponent) ? i : best), 0);
    function move(place) {
      if (Number(slider.value) === place) return;
      slider.value = place;
      slider.dispatchEvent(new Event("input"));
      slider.dispatchEvent(new Event("change", { bubbles: true }));
    }
    const best = html("button", { type: "button" }, "Best h");
    best.addEventListener("click", () => move(nearest(Math.log10(tables[`${state.dtype}/${state.formula}`].best))));

    const [stage, numbers] = [html("div", { class: "stage" }), html("div", { class: "figures" })];
    const said = html("p", { class: "said", "aria-live": "polite" });

    function draw() {
      const room = Math.max(width, 260);
      const drawn = plot(room, state, stops, steps, tables);
      exponentAt = drawn.exponentAt;
      const { truncation, roundoff } = tables[`${state.dtype}/${state.formula}`];
      const i = stops.h.indexOf(state.h);
      stage.replaceChildren(drawn.picture, bar(room, truncation[i], roundoff[i]));
    }

    function sentence({ truncation, roundoff, same: equal }, i) {
      const [one, other, central] = [truncation[i], roundoff[i], state.formula === "central"];
      const kind = verdict(one, other);
      const words = {
        truncation: ["Truncation rules. ", `It is ${times(one / other)} times round-off. A step ten times smaller has a ${central ? "hundredth" : "tenth"} of it.`],
        "round-off": ["Round-off rules. ", `It is ${times(other / one)} times truncation. A step ten times smaller has ten times as much of it.`],
        neither: ["Neither rules: the step is near the best. ", `Ten times smaller, round-off is ten times as large; ten times larger, truncation is ${central ? "a hundred" : "ten"} times as large.`],
      }[kind];
      const lost = equal[i] === points ? `At all ${points} points` : `At ${equal[i]} of ${points} points`;
      const zero = equal[i] ? ` ${lost} the two values are the same float, and the slope comes out as 0.` : "";
      return [html("strong", {}, words[0]), words[1], zero];
    }

    function table({ truncation, roundoff, measured }, i) {
      const central = state.formula === "central";
      const rows = [
        ["truncation", "truncation", central ? "h² / 6" : "h / 2", truncation[i]],
        ["roundoff", "round-off, estimated", central ? "u / h" : "2u / h", roundoff[i]],
        ["sum", "their sum", "", truncation[i] + roundoff[i]],
        [`measured chosen ${state.dtype}`, "measured", "", measured[i]],
      ];
      return html("table", {}, html("tbody", {}, ...rows.map(([kind, name, formula, value]) =>
        html("tr", { "data-part": kind.split(" ")[0] }, html("th", { scope: "row" }, mark(kind), name), html("td", {}, formula), html("td", {}, power(value))))));
    }

    /* What the program subtracts at one point. Digits that both values share are pale: the difference does not have them. */
    function digits(of, i) {
      const { one, other, gap, slope } = subtracted(of, i, steps[i], state.dtype, state.formula);
      const text = (value) => value.toFixed(DECIMALS[state.dtype]);
      const true_ = text(Math.exp(at));
      const split = (words, n, before, after) => [html("span", { class: before }, words.slice(0, n)), html("span", { class: after }, words.slice(n))];
      const cancels = shared(text(one), text(other));
      const right = shared(text(slope), true_);
      const lines = [
        ["up", `f(${at} + h)`, split(text(one), cancels, "pale", "")],
        ["down", state.formula === "central" ? `f(${at} − h)` : `f(${at})`, split(text(other), cancels, "pale", "")],
        ["gap", "difference", split(text(gap).replace("-", "−"), text(gap).search(/[1-9]|$/), "pale", "")],
        ["slope", "slope", split(text(slope).replace("-", "−"), right, "good", "bad")],
        ["true", "true slope", [true_]],
      ];
      return html("table", { class: "digits" }, html("tbody", {}, ...lines.map(([kind, name, value]) =>
        html("tr", { "data-line": kind }, html("th", { scope: "row" }, name), html("td", {}, ...value)))));
    }

    function update() {
      const [of, i] = [tables[`${state.dtype}/${state.formula}`], stops.h.indexOf(state.h)];
      shown.textContent = step(state.h);
      slider.setAttribute("aria-valuetext", shown.textContent);
      said.replaceChildren(...sentence(of, i));
      numbers.replaceChildren(table(of, i), digits(of, i));
      draw();
    }

    drag(stage, (px) => move(nearest(exponentAt(px))), (event) => event.target.closest(".plot:not(.shares)"));

    const controls = html("div", { class: "controls" }, dtypes, formulas, html("div", { class: "sliders" }, steered, best));
    const form = html("form", { autocomplete: "off" }, controls, stage, said, numbers);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "step-size", form, steer: controls, drawing: stage, redraw });
  },
};
