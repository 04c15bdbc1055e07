/* An experiment to steer: a product of Jacobians, its bracketings, and what each costs.

   The interface is anywidget's. `orders` maps a name in the address to a `tree` of Jacobians, nested pairs with the
   output end first, and to its words. Jacobian i is n_i × n_(i-1). `start` has the widths and the order that are shown
   first, `stops` where widths can be set, `chains` what buttons set. Counts are those of
   course/experiments/bracket_order.py. */

const COLUMN = 300; // pixels, at least, for a step of the drawing

const commas = (value) => value.toLocaleString("en-US");
const low = (number) => [...String(number)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
const counted = (n, one) => `${commas(n)} ${one}${n === 1 ? "" : "s"}`;
const ratio = (value) => (value < 10 ? value.toFixed(1) : commas(Math.round(value)));
const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

// ---- the orders

/* What a product is: its first and last Jacobian, output end first, and its shape. */
const leaf = (i, widths) => ({ first: i, last: i, rows: widths[i], columns: widths[i - 1] });

/* The steps of an order, each with the factors that are left after it. */
function stepsOf(tree, widths) {
  const states = [widths.slice(1).map((_, i) => leaf(i + 1, widths)).reverse()];
  const steps = [];
  function multiply(part) {
    if (!Array.isArray(part)) return leaf(part, widths);
    const [left, right] = part.map(multiply);
    const made = { first: left.first, last: right.last, rows: left.rows, columns: right.columns, made: true };
    const flops = 2 * left.rows * left.columns * right.columns;
    steps.push({ sizes: [left.rows, left.columns, right.columns], flops, made });
    const before = states.at(-1);
    const at = before.findIndex(({ first }) => first === left.first);
    states.push([...before.slice(0, at), made, ...before.slice(at + 2)]);
    return made;
  }
  multiply(tree);
  return { steps, states, flops: steps.reduce((sum, step) => sum + step.flops, 0) };
}

const named = ({ first, last }) => Array.from({ length: first - last + 1 }, (_, i) => `J${low(first - i)}`).join("");

// ---- the drawing

const side = (n) => 4 + 5.6 * Math.log2(n);

/* The factors before the first step and after each: blocks with their sides on a logarithmic scale. */
function plot(width, { steps, states }, order) {
  const columns = width >= 2 * COLUMN ? 2 : 1;
  const wide = width / columns;
  const text = (x, y, words, anchor = "middle", kind = "") => svg("text", { x, y, "text-anchor": anchor, class: kind }, words);
  const tall = (blocks) => 38 + Math.max(...blocks.map(({ rows }) => side(rows))) + 40;
  const rows = Array.from({ length: Math.ceil(states.length / columns) }, (_, row) => Math.max(...states.slice(row * columns, (row + 1) * columns).map(tall)));
  const height = rows.reduce((sum, one) => sum + one, 0);
  const label = "The factors of the product before the first step and after each, as blocks with their shapes. The headings have the FLOPs.";
  const picture = svg("svg", { class: "plot", width, height, role: "img", "aria-label": label });
  states.forEach((blocks, at) => {
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const [left, top] = [column * wide, rows.slice(0, row).reduce((sum, one) => sum + one, 0)];
    const group = svg("g", { class: "state" });
    const step = steps[at - 1];
    group.append(text(left, top + 14, step ? `${at}. ${named(step.made)}: ${commas(step.flops)} FLOPs` : "The chain, output end on the left", "start", "name"));
    if (step) group.append(text(left, top + 30, `2 · ${step.sizes.map(commas).join(" · ")}`, "start", "formula"));
    const middle = top + 38 + (rows[row] - 78) / 2;
    let x = left;
    for (const block of blocks) {
      const [across, down] = [side(block.columns), side(block.rows)];
      const room = Math.max(70, across + 10);
      const kind = block.made ? `made of-${order}` : "given";
      group.append(svg("rect", { class: `block ${kind}`, x: x + (room - across) / 2, y: middle - down / 2, width: across, height: down }));
      const floor = middle + (rows[row] - 78) / 2;
      group.append(text(x + room / 2, floor + 15, named(block)), text(x + room / 2, floor + 29, `${block.rows}×${block.columns}`, "middle", "shape"));
      x += room;
    }
    picture.append(group);
  });
  return picture;
}

// ---- the widget

export default {
  render({ model, el }) {
    const [orders, stops, start, chains] = ["orders", "stops", "start", "chains"].map((name) => model.get(name));
    const state = { ...start };
    const names = Object.keys(start).filter((name) => name !== "order");
    const last = names.length - 1;
    let width = 0;

    const sliders = {};
    const ends = { 0: " inputs", [last]: " outputs" };
    for (const [i, name] of names.entries())
      sliders[name] = stopsSlider(`n${low(i)}${ends[i] ?? ""}`, name, stops, state[name], (value) => {
        state[name] = value;
        update();
      });
    function set(widths) {
      names.forEach((name, i) => {
        const { input } = sliders[name];
        input.value = stops.indexOf(widths[i]);
        input.dispatchEvent(new Event("input"));
        input.dispatchEvent(new Event("change", { bubbles: true }));
      });
    }
    const button = (words, widths) => {
      const one = html("button", { type: "button" }, words);
      one.addEventListener("click", () => set(widths()));
      return one;
    };
    const buttons = Object.entries(chains).map(([words, widths]) => button(words, () => widths));
    buttons.push(button("Turn round", () => names.map((name) => state[name]).reverse()));

    const rows = Object.entries(orders).map(([key, { words, name }]) => {
      const input = html("input", { type: "radio", name: "order", value: key });
      input.checked = key === state.order;
      input.addEventListener("change", () => {
        state.order = key;
        update();
      });
      const [flops, more, bar] = [html("td", { class: "flops" }), html("td", { class: "more" }), html("div", { class: `bar of-${key}` })];
      const label = html("label", {}, input, html("span", {}, words), html("small", {}, name));
      const row = html("tr", { "data-order": key }, html("th", { scope: "row" }, label), flops, more, html("td", { class: "room" }, bar));
      return { key, row, flops, more, bar };
    });
    const heads = ["order", "FLOPs", "ratio", ""].map((words) => html("th", { scope: "col" }, words));
    const list = html("div", { class: "figures" }, html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows.map(({ row }) => row))));
    const [stage, said] = [html("div", { class: "stage" }), html("p", { class: "said", "aria-live": "polite" })];

    let all = {};
    const draw = () => stage.replaceChildren(plot(Math.max(width, 280), all[state.order], state.order));

    /* Which order is cheapest, and why. */
    function sentence(widths) {
      const least = Math.min(...Object.values(all).map(({ flops }) => flops));
      const cheapest = Object.keys(orders).filter((key) => all[key].flops === least);
      const which = listed(cheapest.map((key) => (["output", "input"].includes(key) ? orders[key].name : orders[key].words)));
      const head = cheapest.length === rows.length ? `All orders cost the same: ${commas(least)} FLOPs. ` : `Cheapest: ${which}, ${commas(least)} FLOPs. `;
      const [outputs, inputs] = [widths[last], widths[0]];
      const both = `From the output end each result has ${counted(outputs, "row")}, from the input end ${counted(inputs, "column")}.`;
      const neither = cheapest.includes("output") || cheapest.includes("input") ? "" : " Here neither end is cheapest.";
      return [html("strong", {}, head), both, neither];
    }

    function update() {
      const widths = names.map((name) => state[name]);
      all = Object.fromEntries(Object.entries(orders).map(([key, { tree }]) => [key, stepsOf(tree, widths)]));
      const totals = Object.values(all).map(({ flops }) => flops);
      const [least, most] = [Math.min(...totals), Math.max(...totals)];
      for (const { input, shown } of Object.values(sliders)) {
        shown.textContent = commas(stops[input.value]);
        input.setAttribute("aria-valuetext", shown.textContent);
      }
      for (const { key, row, flops, more, bar } of rows) {
        const total = all[key].flops;
        flops.textContent = commas(total);
        more.textContent = `${ratio(total / least)}×`;
        bar.style.width = `${(100 * total) / most}%`;
        row.classList.toggle("cheapest", total === least);
        if (key === state.order) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
      }
      said.replaceChildren(...sentence(widths));
      draw();
    }

    const controls = html("div", { class: "controls" },
      html("div", { class: "sliders" }, ...Object.values(sliders).map(({ label }) => label)), html("div", { class: "buttons" }, ...buttons));
    const form = html("form", { autocomplete: "off" }, controls, said, list, stage);
    update();
    const redraw = (room) => {
      width = room;
      draw();
    };
    return framed({ model, el, kind: "bracket-order", form, steer: controls, drawing: stage, redraw });
  },
};
