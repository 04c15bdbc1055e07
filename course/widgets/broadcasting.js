/* An experiment to steer: the shapes of a and b in y = a + b, and which entries of g = dL/dy add up in which entry of
   their gradients; then softmax and layer norm, and which entries of y an entry of x touches.

   The interface is anywidget's. `start` gives the two shapes that are shown first, `most` the longest axis, `x` a
   matrix for softmax and layer norm, whose `eps` is given too. g counts from 1, row by row. */

const AXES = 3;
const OPERATIONS = { add: "y = a + b", softmax: "y = softmax(x)", layernorm: "y = layer norm(x)" };
const LISTED = 8; // terms of a sum that are written out

// ---- shapes and sums

const shapeText = (shape) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
const count = (shape) => shape.reduce((product, size) => product * size, 1);

/* The shape of a + b by NumPy's rule; null if there is none. */
function together(a, b) {
  const shape = [];
  for (let back = 1; back <= Math.max(a.length, b.length); back += 1) {
    const [one, other] = [a.at(-back) ?? 1, b.at(-back) ?? 1];
    if (one !== other && one !== 1 && other !== 1) return null;
    shape.unshift(one === 1 ? other : one);
  }
  return shape;
}

/* The place of an entry, counted row by row, as an index. */
function index(shape, entry) {
  const found = [];
  for (const size of [...shape].reverse()) {
    found.unshift(entry % size);
    entry = Math.floor(entry / size);
  }
  return found;
}

/* Which entry of an operand of this shape an entry of y was made from. */
function source(shape, place) {
  const own = shape.map((size, axis) => (size === 1 ? 0 : place[axis + place.length - shape.length]));
  return own.reduce((entry, at, axis) => entry * shape[axis] + at, 0);
}

/* For each entry of an operand, the entries of g that add up in its gradient. */
function uses(shape, y) {
  const found = Array.from({ length: count(shape) }, () => []);
  for (let entry = 0; entry < count(y); entry += 1) found[source(shape, index(y, entry))].push(entry);
  return found;
}

/* The axes of y over which the gradient of an operand is summed. */
const summed = (shape, y) =>
  y.flatMap((size, axis) => {
    const own = shape[axis - (y.length - shape.length)];
    return own === undefined || (own === 1 && size !== 1) ? [axis] : [];
  });

// ---- functions of a row

const ROWS = {
  softmax(row) {
    const highest = Math.max(...row);
    const raised = row.map((value) => Math.exp(value - highest));
    const total = raised.reduce((sum, value) => sum + value, 0);
    const y = raised.map((value) => value / total);
    return { y, slope: (k, j) => y[k] * ((k === j ? 1 : 0) - y[j]) };
  },
  layernorm(row, eps) {
    const n = row.length;
    const mean = row.reduce((sum, value) => sum + value, 0) / n;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
    const scale = 1 / Math.sqrt(variance + eps);
    const y = row.map((value) => (value - mean) * scale);
    return { y, slope: (k, j) => scale * ((k === j ? 1 : 0) - 1 / n - (y[k] * y[j]) / n) };
  },
};

const decimal = (value) => (Number(value.toFixed(3)) + 0).toFixed(3).replace("-", "−");

// ---- the widget

export default {
  render({ model, el }) {
    const { a, b } = model.get("start");
    const [most, x, eps] = [model.get("most"), model.get("x"), model.get("eps")];
    const padded = (shape) => [...Array(AXES - shape.length).fill(0), ...shape]; // 0: no such axis
    const sizes = { a: padded(a), b: padded(b) };
    const shapeOf = (name) => sizes[name].filter((size) => size);
    let [operation, of, entry] = ["add", "a", 0];

    const sliders = {};
    function axisSlider(name, axis) {
      const label = `${name}${axis + 1}`;
      const input = html("input", { type: "range", name: label, min: 0, max: most, step: 1, "aria-label": `Axis ${axis - AXES} of ${name}` });
      const shown = html("output");
      input.addEventListener("input", () => {
        const size = Number(input.value);
        sizes[name][axis] = size;
        // Axes are missing from the left: none is missing between two.
        for (let other = 0; other < AXES; other += 1) {
          if (size && other > axis) sizes[name][other] ||= 1;
          if (!size && other < axis) sizes[name][other] = 0;
        }
        update();
      });
      sliders[label] = () => {
        const size = sizes[name][axis];
        input.value = size;
        shown.textContent = size || "–";
        input.setAttribute("aria-valuetext", size || "no such axis");
      };
      return html("label", { class: "slider" }, html("span", {}, String(axis - AXES).replace("-", "−")), input, shown);
    }
    const shapes = ["a", "b"].map((name) => {
      const all = Array.from({ length: AXES }, (_, axis) => axisSlider(name, axis));
      return html("fieldset", { class: "shape" }, html("legend", {}, `Axes of ${name}`), html("div", { class: "axes" }, ...all));
    });
    const choice = (title, name, options, now, choose) => radios(title, name, Object.entries(options), now, (value) => {
      choose(value);
      update();
    });
    const what = choice("Operation", "operation", OPERATIONS, operation, (value) => (operation = value));
    const which = choice("Gradient of", "of", { a: "a", b: "b" }, of, (value) => (of = value));
    const picker = html("input", { type: "range", name: "entry", min: 0, step: 1, value: 0 });
    const picked = html("output");
    picker.addEventListener("input", () => {
      entry = Number(picker.value);
      update();
    });
    const pick = html("label", { class: "slider entry" }, html("span", {}, "Entry"), picker, picked);

    const arrays = html("div", { class: "arrays" });
    const said = html("p", { class: "said", "aria-live": "polite" });

    /* An array as tables, one for each place on its first axis if it has three. `look` gives the class of an entry. */
    function drawn(title, name, shape, texts, look, choose) {
      const [rows, columns] = [shape.length > 1 ? shape.at(-2) : 1, shape.length ? shape.at(-1) : 1];
      const slices = [];
      for (let start = 0; start < texts.length; start += rows * columns) {
        const lines = Array.from({ length: rows }, (_, row) => {
          const cells = Array.from({ length: columns }, (_, column) => {
            const at = start + row * columns + column;
            const cell = html("td", { class: `${look(at)}${choose ? " pick" : ""}` }, texts[at]);
            if (choose) cell.addEventListener("click", () => choose(at));
            return cell;
          });
          return html("tr", {}, ...cells);
        });
        slices.push(html("table", { class: "slice" }, html("tbody", {}, ...lines)));
      }
      const heading = html("p", {}, `${title} ${shapeText(shape)}`);
      return html("div", { class: "array", "data-name": name }, heading, html("div", { class: "slices" }, ...slices));
    }

    function choose(name, at) {
      of = name;
      entry = at;
      for (const input of which.querySelectorAll("input")) input.checked = input.value === name;
      update();
    }

    function setPicker(shape) {
      entry = Math.min(entry, count(shape) - 1);
      picker.max = count(shape) - 1;
      picker.value = entry;
      picked.textContent = `[${index(shape, entry).join(", ")}]`;
      picker.setAttribute("aria-valuetext", picked.textContent);
    }

    function addition() {
      const [left, right] = [shapeOf("a"), shapeOf("b")];
      const y = together(left, right);
      if (!y) {
        const fault = `operands could not be broadcast together with shapes ${[left, right].map((one) => shapeText(one).replaceAll(" ", "")).join(" ")}`;
        arrays.replaceChildren();
        said.replaceChildren(html("strong", { class: "fault" }, `ValueError: ${fault}`), ". From the right, two axes are to be equal, or one of them 1 or missing.");
        picked.textContent = "";
        return;
      }
      const shape = shapeOf(of);
      setPicker(shape);
      const terms = { a: uses(left, y), b: uses(right, y) };
      const chosen = new Set(terms[of][entry]);
      const total = (entries) => entries.reduce((sum, at) => sum + at + 1, 0);
      const gradient = (name) => {
        const texts = terms[name].map((entries) => String(total(entries)));
        const look = (at) => (name === of && at === entry ? "chosen" : "");
        return drawn(`d${name}`, `d${name}`, shapeOf(name), texts, look, (at) => choose(name, at));
      };
      const g = Array.from({ length: count(y) }, (_, at) => String(at + 1));
      arrays.replaceChildren(gradient("a"), drawn("g", "g", y, g, (at) => (chosen.has(at) ? "adds" : "")), gradient("b"));
      const named = (name, its, at) => (its.length ? `${name}[${index(its, at).join(", ")}]` : name);
      const all = terms[of][entry];
      const shown = all.length > LISTED ? [...all.slice(0, 3), null, all.at(-1)] : all;
      const sum = (say) => shown.map((at) => (at === null ? "…" : say(at))).join(" + ");
      const values = all.length > 1 ? ` = ${sum((at) => at + 1)}` : "";
      const axes = summed(shape, y);
      const how = axes.length
        ? `d${of} is g summed over ${axes.length > 1 ? "the axes" : "axis"} ${axes.join(", ")}.`
        : `d${of} is g itself: ${of} was not broadcast.`;
      said.replaceChildren(
        html("strong", {}, `${named(`d${of}`, shape, entry)} = ${sum((at) => named("g", y, at))}${values} = ${total(all)}. `),
        `Forward used this entry of ${of} ${all.length === 1 ? "once" : `${all.length} times`}. ${how}`,
      );
    }

    function ofRows() {
      const shape = [x.length, x[0].length];
      setPicker(shape);
      const [row, column] = index(shape, entry);
      const made = x.map((values) => ROWS[operation](values, eps));
      const slopes = x.flatMap((values, i) => values.map((_, k) => (i === row ? made[i].slope(k, column) : 0)));
      const flat = (grid) => grid.flat().map(decimal);
      const look = (at) => (at === entry ? "chosen" : "");
      const touched = (at) => (Math.floor(at / shape[1]) === row ? "adds" : "");
      arrays.replaceChildren(
        drawn("x", "x", shape, flat(x), look, (at) => choose(of, at)),
        drawn("y", "y", shape, flat(made.map(({ y }) => y)), touched),
        drawn(`∂y/∂x[${row}, ${column}]`, "slopes", shape, slopes.map(decimal), touched),
      );
      const others = slopes.filter((_, at) => touched(at) && at !== entry);
      const signs = others.every((slope) => slope < 0) ? "all others fall" : "others rise or fall with it";
      said.replaceChildren(
        html("strong", {}, `x[${row}, ${column}] touches the ${shape[1]} entries of its row, and no other. `),
        `If it rises, its own output rises and ${signs}: the ${shape[1]} slopes add up to ${decimal(slopes.reduce((sum, slope) => sum + slope, 0))}. `,
        `Backward, all ${shape[1]} entries of g in this row come back to it, each times its slope.`,
      );
    }

    function update() {
      for (const show of Object.values(sliders)) show();
      const adds = operation === "add";
      for (const part of [...shapes, which]) part.hidden = !adds;
      (adds ? addition : ofRows)();
    }

    const controls = html("div", { class: "controls" }, what, ...shapes, which, pick);
    const form = html("form", { autocomplete: "off" }, controls, arrays, said);
    update();
    return framed({ model, el, kind: "broadcasting", form, steer: controls });
  },
};
