/* An experiment to steer: a small graph with its values and local gradients, and the reverse sweep, message by message.

   The interface is anywidget's. `inputs` maps a name to a value; `operations` lists [name, operation, parent, …],
   parents first; `places` maps a name to [column, row]. `orders` lists [label, names]: who has a turn, in which order.
   The right order is the first. An input goes from -`limit` to `limit` in steps of `step`. */

const HEIGHT = 58; // of a box
const NARROW = 540; // below this the graph runs from top to bottom

const OPERATIONS = {
  add: { says: (p, q) => `${p} + ${q}`, value: (p, q) => p + q, local: () => [1, 1] },
  sub: { says: (p, q) => `${p} − ${q}`, value: (p, q) => p - q, local: () => [1, -1] },
  mul: { says: (p, q) => `${p}·${q}`, value: (p, q) => p * q, local: (p, q) => [q, p], names: (p, q) => [q, p] },
  square: { says: (p) => `${p}²`, value: (p) => p * p, local: (p) => [2 * p], names: (p) => [`2${p}`] },
};

const number = (value) => String(Number(value.toPrecision(6)) + 0).replace("-", "−");
const factor = (value) => (value < 0 ? `(${number(value)})` : number(value));

// ---- the graph and the sweep

/* Values of all nodes, and the edges: { parent, child, local, label }. */
function forward(inputs, operations) {
  const values = { ...inputs };
  const edges = operations.flatMap(([child, name, ...parents]) => {
    const { value, local, names } = OPERATIONS[name];
    const numbers = parents.map((parent) => values[parent]);
    values[child] = value(...numbers);
    const [locals, words] = [local(...numbers), names?.(...parents)];
    return parents.map((parent, i) => {
      const label = (words ? `${words[i]} = ` : "") + number(locals[i]);
      return { parent, child, local: locals[i], label };
    });
  });
  return { values, edges };
}

/* The messages of a sweep in which every operation in `order` sends once what it holds when its turn comes.
   `owed`: how many messages the sender still waits for. `late`: the receiver has had its turn. */
function sweep(edges, order) {
  const output = order[0];
  const held = { [output]: 1 };
  const due = {};
  for (const { parent } of edges) due[parent] = (due[parent] ?? 0) + 1;
  const sent = new Set();
  const messages = [];
  for (const child of order) {
    const g = held[child] ?? 0;
    const owed = due[child] ?? 0;
    sent.add(child);
    for (const edge of edges.filter((one) => one.child === child)) {
      const message = g * edge.local;
      held[edge.parent] = (held[edge.parent] ?? 0) + message;
      due[edge.parent] -= 1;
      messages.push({ edge, g, message, owed, late: sent.has(edge.parent), held: { ...held }, due: { ...due } });
    }
  }
  return messages;
}

// ---- the drawing

function drawing(width, { places, operations, output }, { values, edges }, messages, step) {
  const across = width >= NARROW;
  const [columns, rows] = [0, 1].map((i) => Math.max(...Object.values(places).map((place) => place[i])));
  const margin = 4;
  const boxWidth = columns > 3 ? 84 : 124;
  const box = [boxWidth, HEIGHT];
  const inner = width - boxWidth - 2 * margin;
  const unit = across ? [inner / (columns || 1), 108] : [112, Math.min(inner / (rows || 1), 190)];
  const wide = across ? columns * unit[0] : rows * unit[1];
  const height = (across ? rows * unit[1] : columns * unit[0]) + HEIGHT + 2 * margin;
  const at = (name) => {
    const [along, aside] = [places[name][0] * unit[0], places[name][1] * unit[1]];
    const [x, y] = across ? [along, aside] : [aside, along];
    return [x + (width - wide) / 2, y + HEIGHT / 2 + margin];
  };
  const label = "The graph with its values and local gradients. The messages are in the table below.";
  const picture = svg("svg", { class: "plot", width, height, role: "img", "aria-label": label });
  const now = messages[step - 1];
  const past = new Map(messages.slice(0, step).map((message) => [message.edge, message]));
  const words = [];
  for (const edge of edges) {
    const [from, to] = [at(edge.parent), at(edge.child)];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const side = [-(to[1] - from[1]) / length, (to[0] - from[0]) / length];
    const message = past.get(edge);
    const kind = ["backward", message && "sent", message?.late && "late", message && message === now && "now"];
    picture.append(arrow("forward", box, from, to, side, -4));
    picture.append(arrow(kind.filter(Boolean).join(" "), box, to, from, side, 4));
    const anchor = side[0] > 0.2 ? "start" : side[0] < -0.2 ? "end" : "middle";
    const [start, end] = [border(box, from, [side[1], -side[0]]), border(box, to, [-side[1], side[0]])];
    const x = (start[0] + end[0]) / 2 + side[0] * 11;
    const y = (start[1] + end[1]) / 2 + side[1] * 11 + (side[1] > 0.8 ? 9 : 4);
    words.push(svg("text", { class: "local", x, y, "text-anchor": anchor }, edge.label));
  }
  picture.append(...words);

  const formulas = Object.fromEntries(operations.map(([name, kind, ...p]) => [name, OPERATIONS[kind].says(...p)]));
  const uses = (name) => edges.filter(({ parent }) => parent === name).length;
  for (const name of Object.keys(places)) {
    const [x, y] = at(name);
    const held = now ? now.held[name] : name === output ? 1 : undefined;
    const waits = now ? now.due[name] : uses(name);
    const g = [held === undefined ? [] : number(held), waits ? "…" : []].flat().join(" + ");
    const busy = now && (now.edge.child === name || now.edge.parent === name);
    const node = svg("g", { class: ["node", busy && "busy", !waits && "final"].filter(Boolean).join(" ") });
    const [left, top] = [x - boxWidth / 2, y - HEIGHT / 2];
    node.append(svg("rect", { x: left, y: top, width: boxWidth, height: HEIGHT, rx: 6 }));
    node.append(svg("text", { class: "name", x, y: y - 13 }, formulas[name] ? `${name} = ${formulas[name]}` : name));
    node.append(svg("text", { class: "value", x, y: y + 4 }, number(values[name])));
    node.append(svg("text", { class: "g", x, y: y + 21 }, `g = ${g}`));
    picture.append(node);
  }
  return picture;
}

// ---- words and tables

const cells = (tag, words, attributes = {}) => words.map((text) => html(tag, attributes, text));

function table(head, rows, attributes = {}) {
  const lines = rows.map(([first, ...rest]) => html("tr", {}, html("th", { scope: "row" }, first), ...cells("td", rest)));
  const top = html("tr", {}, ...cells("th", head, { scope: "col" }));
  return html("table", attributes, html("thead", {}, top), html("tbody", {}, ...lines));
}

function sentence(messages, step, output) {
  if (!step) return [html("strong", {}, `${output} starts with g = 1. `), "Send the first message."];
  const { edge, g, message, owed, late, held, due } = messages[step - 1];
  const [from, to] = [edge.child, edge.parent];
  const product = `g × local gradient = ${factor(g)} × ${factor(edge.local)} = ${number(message)}`;
  const many = (count) => `${count} more message${count > 1 ? "s" : ""}`;
  const parts = [html("strong", {}, `${step} of ${messages.length}: ${from} sends to ${to}. `)];
  parts.push(`${product}. ${to} holds ${number(held[to])}`, due[to] ? `; ${many(due[to])} will come.` : ".");
  if (owed) parts.push(html("strong", { class: "wrong" }, ` Too early: ${many(owed)} will come to ${from}.`));
  if (late) parts.push(html("strong", { class: "wrong" }, ` Too late: ${to} has sent, so this goes no further.`));
  return parts;
}

// ---- the widget

export default {
  render({ model, el }) {
    const inputs = { ...model.get("inputs") };
    const [operations, places, orders] = ["operations", "places", "orders"].map((name) => model.get(name));
    const output = orders[0][1][0];
    const total = operations.reduce((sum, [, , ...parents]) => sum + parents.length, 0); // one message per edge
    let [order, step] = [0, 0];

    const sliders = Object.keys(inputs).map((name) => {
      const [max, by] = [model.get("limit"), model.get("step")];
      const slider = html("input", { type: "range", name, min: -max, max, step: by, value: inputs[name] });
      const shown = html("output", {}, number(inputs[name]));
      slider.addEventListener("input", () => {
        inputs[name] = Number(slider.value);
        shown.textContent = number(inputs[name]);
        update();
      });
      return html("label", { class: "slider" }, html("span", { class: "symbol" }, name), slider, shown);
    });

    const several = orders.length > 1;
    const group = radios("Who sends when", "order", orders.map(([label], i) => [i, label]), order, (value) => {
      order = value;
      update();
    });

    const buttons = ["Restart", "Back", "Next message", "All"].map((words, i) => {
      const button = html("button", { type: "button" }, words);
      button.addEventListener("click", () => {
        go([0, step - 1, step + 1, total][i]);
      });
      return button;
    });
    const sent = html("input", { type: "hidden", name: "sent", value: 0 });
    sent.addEventListener("input", () => go(Number(sent.value) || 0));
    function go(goal) {
      step = Math.max(0, Math.min(goal, total));
      sent.value = step;
      update();
    }
    const [stage, outcome] = [html("div"), html("div", several ? {} : { hidden: "" })];
    const said = html("p", { class: "said", "aria-live": "polite" });
    const scroll = html("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": "Messages" });
    const numbers = html("details", {}, html("summary", {}, "The messages as a table"), scroll);

    let width = 0;
    function update() {
      const graph = forward(inputs, operations);
      const sweeps = orders.map(([, names]) => sweep(graph.edges, names));
      const messages = sweeps[order];
      stage.replaceChildren(
        drawing(Math.max(width, 260), { places, operations, output }, graph, messages, step),
      );
      reserve(said, sweeps.flatMap((one) => one.map((_, i) => sentence(one, i + 1, output))));
      said.replaceChildren(...sentence(messages, step, output));
      // Not `disabled`: a button that has the focus keeps it.
      for (const [i, end] of [0, 0, total, total].entries())
        buttons[i].setAttribute("aria-disabled", step === end);
      const lines = messages.slice(0, step).map(({ edge, g, message, held }) => {
        const figures = [g, edge.local, message, held[edge.parent]].map(number);
        return [`${edge.child} → ${edge.parent}`, ...figures];
      });
      scroll.replaceChildren(table(["Message", "g of the sender", "local gradient", "sent", "then held"], lines));
      if (!several) return;
      const truth = sweeps[0].at(-1).held;
      const rows = Object.keys(inputs).map((name) => {
        const got = messages[step - 1]?.held[name] ?? 0;
        const right = Math.abs(got - truth[name]) <= 1e-9 * Math.abs(truth[name]);
        const done = step === total;
        const verdict = done ? (right ? "✓ right" : "✗ wrong") : "";
        return [`∂${output}/∂${name}`, number(got) + (done ? "" : " so far"), number(truth[name]), verdict];
      });
      outcome.replaceChildren(table(["", "this sweep", "the gradient", ""], rows, { class: "outcome" }));
      for (const cell of outcome.querySelectorAll("td:last-child"))
        cell.classList.toggle("wrong", cell.textContent.startsWith("✗"));
    }

    // A form of its own, so that the radio buttons of two widgets on a page do not mix.
    const controls = html("div", { class: "controls" }, html("div", { class: "sliders" }, ...sliders), group);
    const steer = html("div", {}, controls, html("div", { class: "buttons" }, ...buttons), sent);
    const form = html("form", { autocomplete: "off" }, steer, stage, said, outcome, numbers);
    const redraw = (room) => {
      width = room;
      update();
    };
    const leave = framed({ model, el, kind: "backward-sweep", form, steer, drawing: stage, redraw });
    update();
    return leave;
  },
};
