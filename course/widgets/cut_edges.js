/* An experiment to steer: the graph of a small program whose edges are cut by `.detach()`. A reader says for each leaf
   whether `.grad` will be None, 0 or a value, and then sees it.

   The interface is anywidget's. `programs` maps a name to its `words`, `leaves`, `lines` (each a list of [text, used name]),
   `places` ([column, row] by name), `edges` ([used, result]), `values`, and `grads`: one list, in the order of `places`,
   for each combination of cuts, of which number i cuts the edges of i's binary digits, lowest first. A gradient is a
   number, a list of numbers, or null for None. `error` is what backward raises where nothing is left. `start` has the
   `program` and the `cuts` that are shown first. All numbers are PyTorch's (course/experiments/cuts.py). */

const BOX = [108, 50]; // at most
const WIDE = 540; // from this width on, values go from left to right, and below it from top to bottom
const GUESSES = [["none", "None"], ["zero", "0"], ["value", "a value"]];

const plain = (value) => String(value).replace("-", "−");
const number = (value) => (Array.isArray(value) ? `[${value.map(plain).join(", ")}]` : plain(value));
const kindOf = (grad) => (grad === null ? "none" : grad === 0 ? "zero" : "value");
const code = (words) => html("code", {}, words);
const keyOf = ([used, result]) => `${used}-${result}`;

// ---- what is cut, and what is left

const gradsOf = ({ places, edges, grads }, cuts) => {
  const at = edges.reduce((sum, edge, i) => sum + (cuts.has(keyOf(edge)) ? 2 ** i : 0), 0);
  return Object.fromEntries(Object.keys(places).map((name, i) => [name, grads[at][i]]));
};

/* How many ways lead from a tensor to the loss. */
function ways(edges, from) {
  if (from === "L") return 1;
  return edges.filter(([used]) => used === from).reduce((sum, [, result]) => sum + ways(edges, result), 0);
}

/* Why a leaf has this gradient; `guess` is what the reader said. */
function reason(program, cuts, leaf, grads, guess) {
  const all = ways(program.edges, leaf);
  const left = ways(program.edges.filter((edge) => !cuts.has(keyOf(edge))), leaf);
  const before = gradsOf(program, new Set())[leaf];
  const some = all === 1 ? "Its one path is left" : left === all ? `All ${all} paths are left` : `${left} of ${all} paths ${left > 1 ? "are" : "is"} left`;
  if (grads[leaf] === null) return guess === "zero" ? "No path is left, so backward writes nothing, not even a 0." : "No path is left.";
  if (grads[leaf] === 0) {
    const why = left > 1 ? ", and their messages add up to 0" : ", with a slope of 0 on it";
    return `${some}${why}${guess === "none" ? ": backward writes that 0" : ""}.`;
  }
  return left === all ? `${some}.` : `${some}. Without a cut, it is ${number(before)}.`;
}

// ---- the drawing

/* What a box says below its value. */
function below(leaf, grads, name) {
  if (!grads) return leaf ? ".grad ?" : "";
  if (grads[name] === null) return leaf ? ".grad None" : "no g";
  return `${leaf ? ".grad" : "g ="} ${number(grads[name])}`;
}

function drawing(width, program, cuts, grads) {
  const { places, edges, leaves, values } = program;
  const across = width >= WIDE;
  const most = (i) => Math.max(...Object.values(places).map((place) => place[i]));
  const [boxWidth, boxHeight] = [across ? BOX[0] : Math.min(BOX[0], (width - 8) / (most(1) + 1) - 8), BOX[1]];
  const box = [boxWidth, boxHeight];
  const room = width - boxWidth - 8;
  const unit = across ? [Math.min(room / most(0), 200), 84] : [96, Math.min(room / most(1), 190)];
  const [wide, high] = across ? [most(0) * unit[0], most(1) * unit[1]] : [most(1) * unit[1], most(0) * unit[0]];
  const at = (name) => {
    const [along, aside] = [places[name][0] * unit[0], places[name][1] * unit[1]];
    const [x, y] = across ? [along, aside] : [aside, along];
    return [x + (width - wide) / 2, y + boxHeight / 2 + 4];
  };
  const label = "The graph of the program. Its edges are in the list of cuts, its gradients in the answers below.";
  const picture = svg("svg", { class: "plot", width, height: high + boxHeight + 8, role: "img", "aria-label": label });
  const handles = [];
  for (const edge of edges) {
    const [from, to] = edge.map(at);
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const cut = cuts.has(keyOf(edge));
    picture.append(arrow("forward", box, from, to, [-uy, ux], grads ? -5 : 0));
    const back = grads && !cut && edge.every((name) => grads[name] !== null);
    if (back) picture.append(arrow("backward", box, to, from, [-uy, ux], 5));
    // The handle stands between the boxes: a circle, or a wall that values pass and gradients do not.
    const [start, end] = [border(box, from, [ux, uy]), border(box, to, [-ux, -uy])];
    const [x, y] = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
    const wall = `M${x - uy * 15} ${y + ux * 15}L${x + uy * 15} ${y - ux * 15}`;
    const handle = svg("g", { class: cut ? "handle cut" : "handle", "data-edge": keyOf(edge) });
    handle.append(svg("path", { class: "hit", d: `M${start.join(" ")}L${end.join(" ")}` }), svg("circle", { class: "hit", cx: x, cy: y, r: 14 }));
    handle.append(cut ? svg("path", { class: "wall", d: wall }) : svg("circle", { class: "ring", cx: x, cy: y, r: 5.5 }));
    handles.push(handle);
  }
  for (const name of Object.keys(places)) {
    const [x, y] = at(name);
    const leaf = leaves.includes(name);
    const kind = ["node", leaf && "leaf", grads && grads[name] === null && "bare"];
    const node = svg("g", { class: kind.filter(Boolean).join(" "), "data-name": name });
    node.append(svg("rect", { x: x - boxWidth / 2, y: y - boxHeight / 2, width: boxWidth, height: boxHeight, rx: leaf ? 14 : 4 }));
    node.append(svg("text", { class: "value", x, y: y - 5 }, `${name} = ${number(values[name])}`));
    node.append(svg("text", { class: "g", x, y: y + 15 }, below(leaf, grads, name)));
    picture.append(node);
  }
  picture.append(...handles);
  return picture;
}

/* The lines of the program, with `.detach()` where it is cut. */
function listing({ lines }, cuts) {
  const rows = lines.map((parts) => {
    const result = parts[0][0].split(" = ")[0];
    const words = parts.flatMap(([text, used]) => [text, used, cuts.has(`${used}-${result}`) ? html("mark", {}, ".detach()") : ""]);
    return html("span", {}, ...words);
  });
  return html("pre", { class: "lines" }, html("code", {}, ...[...rows, html("span", {}, "L.backward()")].flatMap((row) => [row, "\n"])));
}

// ---- the widget

export default {
  render({ model, el }) {
    const [start, programs, error] = ["start", "programs", "error"].map((name) => model.get(name));
    let [name, cuts, ran, guesses] = [start.program, new Set(start.cuts), false, {}];
    let [asked, right, width] = [0, 0, 0];

    const which = radios("Program", "program", Object.entries(programs).map(([key, { words }]) => [key, words]), name, (value) => {
      name = value;
      begin(new Set());
    });
    // What is cut and whether backward has run are a part of the state, and have no control of one value.
    const cutInput = html("input", { type: "hidden", name: "cuts" });
    cutInput.addEventListener("input", () => {
      const wanted = cutInput.value.split(".").filter(Boolean);
      const known = programs[name].edges.map(keyOf);
      if (wanted.every((key) => known.includes(key))) begin(new Set(wanted));
      else cutInput.value = shownCuts();
    });
    const runInput = html("input", { type: "hidden", name: "run", value: 0 });
    runInput.addEventListener("input", () => {
      if (runInput.value === "1") run();
      else if (runInput.value === "0") begin(cuts);
      else runInput.value = Number(ran);
    });
    const shownCuts = () => programs[name].edges.map(keyOf).filter((key) => cuts.has(key)).join(".");

    const list = html("fieldset", { class: "cuts" });
    const [stage, text, leaves] = [html("div", { class: "stage" }), html("div"), html("div", { class: "leaves" })];
    const button = html("button", { type: "button" });
    button.addEventListener("click", () => (ran ? begin(cuts) : run()));
    const said = html("p", { class: "said", "aria-live": "polite" });

    /* The same program with other cuts: nothing is known of its gradients. */
    function begin(now) {
      [cuts, ran, guesses] = [now, false, {}];
      update();
    }
    function run() {
      if (ran) return;
      ran = true;
      const grads = gradsOf(programs[name], cuts);
      for (const [leaf, guess] of Object.entries(guesses)) {
        asked += 1;
        right += Number(guess === kindOf(grads[leaf]));
      }
      update();
    }
    function toggle(key) {
      const now = new Set(cuts);
      if (!now.delete(key)) now.add(key);
      begin(now);
    }
    stage.addEventListener("click", (event) => {
      const key = event.target.closest(".handle")?.dataset.edge;
      if (key) toggle(key);
    });

    /* The checkboxes of a program's edges stay as long as the program does, so that the focus stays, too. */
    function listCuts() {
      if (list.dataset.program !== name) {
        list.dataset.program = name;
        const boxes = programs[name].edges.map((edge) => {
          const box = html("input", { type: "checkbox", value: keyOf(edge) });
          box.addEventListener("change", () => toggle(box.value));
          return html("label", {}, box, `${edge[0]} → ${edge[1]}`);
        });
        list.replaceChildren(html("legend", {}, "Cut by ", code(".detach()")), ...boxes);
      }
      for (const box of list.querySelectorAll("input")) box.checked = cuts.has(box.value);
    }

    function ask(grads) {
      const program = programs[name];
      const rows = program.leaves.map((leaf) => {
        const guess = guesses[leaf];
        const entries = GUESSES.map(([value, words]) => [value, value === "value" ? words : code(words)]);
        const choice = radios("", `guess-${leaf}`, entries, guess, (value) => {
          guesses[leaf] = value;
          settle();
        });
        choice.firstChild.append(code(`${leaf}.grad`));
        choice.disabled = ran;
        for (const input of choice.querySelectorAll("input")) input.disabled = ran;
        const answer = html("p", { class: "answer" });
        if (ran) {
          const good = guess === kindOf(grads[leaf]);
          if (guess) answer.append(html("strong", { class: good ? "right" : "wrong" }, good ? "✓ " : "✗ "));
          answer.append(html("strong", {}, code(grads[leaf] === null ? "None" : number(grads[leaf]))), " ", reason(program, cuts, leaf, grads, guess));
        }
        return html("div", { class: "leaf", "data-leaf": leaf }, choice, answer);
      });
      leaves.replaceChildren(...rows);
    }

    /* What depends on guesses alone. */
    function settle() {
      const all = programs[name].leaves.every((leaf) => guesses[leaf]);
      button.textContent = ran ? "Guess again" : all ? "Run L.backward()" : "Just show me";
    }

    function sentence(grads) {
      const { leaves: names, values } = programs[name];
      if (!ran) return [html("strong", {}, cuts.size ? "The values stay as they are. " : "Nothing is cut. "), "Say what each leaf will hold, then run."];
      const score = names.filter((leaf) => guesses[leaf] === kindOf(grads[leaf])).length;
      const told = names.filter((leaf) => guesses[leaf]).length;
      const words = told ? [html("strong", {}, `${score} of ${told} right`), asked > told ? `, ${right} of ${asked} so far. ` : ". "] : [];
      if (grads.L === null) return [...words, "No path is left at all, so backward raises an error: ", code(error), "."];
      return [...words, `L is ${number(values.L)}${cuts.size ? ", as it is without a cut: no cut changes a value" : ""}.`];
    }

    function draw(grads) {
      stage.replaceChildren(drawing(Math.max(width, 260), programs[name], cuts, grads));
    }
    function update() {
      const grads = ran ? gradsOf(programs[name], cuts) : null;
      [cutInput.value, runInput.value] = [shownCuts(), Number(ran)];
      listCuts();
      text.replaceChildren(listing(programs[name], cuts));
      ask(grads);
      settle();
      said.replaceChildren(...sentence(grads));
      draw(grads);
    }

    const controls = html("div", { class: "controls" }, which, list, cutInput, runInput);
    const answers = html("div", { class: "answers" }, leaves, html("div", {}, button));
    const form = html("form", { autocomplete: "off" }, controls, stage, html("div", { class: "beside" }, text, answers), said);
    update();
    const redraw = (room) => {
      width = room;
      draw(ran ? gradsOf(programs[name], cuts) : null);
    };
    return framed({ model, el, kind: "cut-edges", form, steer: controls, drawing: stage, redraw });
  },
};
