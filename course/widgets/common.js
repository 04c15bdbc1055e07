/* What all experiments share: elements of HTML and SVG, room for a text that changes, arrows between boxes, and the
   frame around a form: its title, the question that comes first, and its state in the page's address. */

function builder(create) {
  return (tag, attributes = {}, ...children) => {
    const element = create(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
}
const html = builder((tag) => document.createElement(tag));
const svg = builder((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));

/* Reserves room below the picture for the longest of these sentences, so that nothing jumps. */
function reserve(said, sentences) {
  const ruler = html("p", { class: "said ruler", "aria-hidden": "true" });
  said.after(ruler);
  ruler.style.width = `${said.clientWidth}px`;
  const heights = sentences.map((parts) => {
    ruler.replaceChildren(...parts);
    return Math.ceil(ruler.getBoundingClientRect().height);
  });
  ruler.remove();
  said.style.minHeight = `${Math.max(...heights)}px`;
}

// ---- arrows between boxes

/* From a center, moved by `shift`, to where a line in this direction leaves the box of this width and height around it. */
function border([width, height], [x, y], [dx, dy], shift = [0, 0]) {
  const reach = (half, along, off) => (along ? (half - Math.sign(along) * off) / Math.abs(along) : Infinity);
  const t = Math.min(reach(width / 2, dx, shift[0]), reach(height / 2, dy, shift[1]));
  return [x + shift[0] + t * dx, y + shift[1] + t * dy];
}

/* An arrow between two boxes of one size, moved by `offset` along `side`. */
function arrow(kind, box, from, to, side, offset) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const shift = [side[0] * offset, side[1] * offset];
  const start = border(box, from, [ux, uy], shift);
  const end = border(box, to, [-ux, -uy], shift);
  const tip = (along, across) => `${end[0] - along * ux - across * uy} ${end[1] - along * uy + across * ux}`;
  return svg(
    "g",
    { class: `arrow ${kind}` },
    svg("path", { class: "line", d: `M${start.join(" ")}L${tip(5, 0)}` }),
    svg("path", { class: "head", d: `M${end.join(" ")}L${tip(8, 4)}L${tip(8, -4)}Z` }),
  );
}

// ---- the frame

/* A text in which `names` stand between backquotes. */
const rich = (text) => text.split("`").map((part, i) => (i % 2 ? html("code", {}, part) : part));

/* What a form is set to: the value of every input that has a name. A slider with `stops` is set to one of these. */
function stateOf(form) {
  const state = {};
  for (const input of form.elements) {
    if (!input.name || input.disabled || (input.type === "radio" && !input.checked)) continue;
    if (input.type === "checkbox") state[input.name] = input.checked ? "1" : "0";
    else state[input.name] = String(input.stops ? input.stops[input.value] : input.value);
  }
  return state;
}

/* Set inputs by name, as a reader would; values that an input cannot have change nothing. */
function setState(form, state) {
  const set = (input, value) => {
    if (input.type === "radio" || input.type === "checkbox") {
      const checked = input.type === "radio" ? true : value === "1";
      if (input.type === "radio" ? input.value !== value : !["0", "1"].includes(value)) return;
      if (input.checked === checked) return;
      input.checked = checked;
    } else {
      const known = input.stops ? input.stops.findIndex((stop) => String(stop) === value) : value;
      const options = [...(input.options ?? [])].map((option) => option.value);
      if (known === -1 || (input.options && !options.includes(value))) return;
      if (input.type === "range" && (value === "" || (!input.stops && Number.isNaN(Number(value))))) return;
      input.value = known;
    }
    for (const event of ["input", "change"]) input.dispatchEvent(new Event(event));
  };
  for (const input of form.elements) if (Object.hasOwn(state, input.name)) set(input, String(state[input.name]));
}

/* A choice of one of `entries`, pairs of a value and its words; it is not shown where there is nothing to choose. */
function radios(legend, name, entries, chosen, choose) {
  const labels = entries.map(([value, words]) => {
    const input = html("input", { type: "radio", name, value });
    input.checked = value === chosen;
    input.addEventListener("change", () => choose(value));
    return html("label", {}, input, words);
  });
  return html("fieldset", entries.length > 1 ? {} : { hidden: "" }, html("legend", {}, legend), ...labels);
}

/* A slider over `stops`, which calls `choose` with the stop that it is moved to; `shown` is where its value is said. */
function stopsSlider(words, name, stops, chosen, choose) {
  const input = html("input", { type: "range", name, min: 0, max: stops.length - 1, step: 1, "aria-label": words });
  const shown = html("output");
  input.stops = stops;
  input.value = stops.indexOf(chosen);
  input.addEventListener("input", () => choose(stops[input.value]));
  return { input, shown, label: html("label", { class: "slider" }, html("span", {}, words), input, shown) };
}

/* Call `follow(x)` with the place of the pointer, in CSS pixels from the left of `stage`, while it is held down there. */
function drag(stage, follow, starts = () => true) {
  let held = false;
  const at = (event) => held && follow(event.clientX - stage.getBoundingClientRect().left);
  stage.addEventListener("pointerdown", (event) => {
    held = starts(event);
    if (held) stage.setPointerCapture(event.pointerId);
    at(event);
  });
  stage.addEventListener("pointermove", at);
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => (held = false));
}

/* What the reader has answered, where the browser keeps anything. */
function memory(name) {
  const page = location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";
  const key = `backprop:widget:${page}/${name}`;
  return {
    read: () => { try { return localStorage.getItem(key); } catch { return null; } },
    write: (value) => { try { localStorage.setItem(key, value); } catch { /* forgotten when the reader leaves */ } },
    forget: () => { try { localStorage.removeItem(key); } catch { /* nothing was kept */ } },
  };
}

/* Call `redraw(width)` with the width of `drawing` in CSS pixels, at first and whenever it changes. Returns what ends it. */
function onWidth(drawing, redraw) {
  let known = 0;
  const observer = new ResizeObserver(() => {
    const width = drawing.clientWidth;
    if (width && width !== known) redraw((known = width));
  });
  observer.observe(drawing);
  return () => observer.disconnect();
}

/* Put `form` into `el`, below its title and behind its question. `steer` holds its controls, which stay in view on a
   phone; `redraw(width)` fits what is drawn in `drawing`. Returns what takes it out again. */
function framed({ model, el, kind, form, steer, drawing, redraw }) {
  const leave = drawing ? onWidth(drawing, redraw) : () => {};
  const { title, name, question } = model.get("frame");
  form.addEventListener("submit", (event) => event.preventDefault()); // Enter on a radio button
  steer.classList.add("steer");
  const kept = memory(name);
  const asks = html("div", { class: "asks" });
  const body = html("div", { class: "frame-body" }, form);
  el.classList.add("experiment", kind);
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", title);
  el.replaceChildren(html("p", { class: "frame-title" }, title), asks, body);
  const first = stateOf(form);

  function lock() {
    const choices = question.options.map(([text], at) => {
      const button = html("button", { type: "button", class: "option" }, ...rich(text));
      button.addEventListener("click", () => answer(String(at)));
      return html("li", {}, button);
    });
    const skip = html("button", { type: "button", class: "link" }, "Just show me");
    skip.addEventListener("click", () => answer("shown"));
    const words = html("p", { class: "question", tabindex: -1 }, ...rich(question.asks));
    asks.replaceChildren(words, html("ul", { class: "options" }, ...choices), skip);
    body.inert = true;
  }

  function unlock(answered) {
    const again = html("button", { type: "button", class: "link" }, "Ask me again");
    again.addEventListener("click", () => {
      kept.forget();
      setState(form, first);
      lock();
      asks.firstChild.focus();
    });
    const reply = html("p", { class: "reply", tabindex: -1 });
    const option = question.options[answered];
    if (option) {
      const right = Number(answered) === question.right;
      const verdict = html("strong", { class: right ? "right" : "wrong" }, right ? "✓ Yes." : "✗ No.");
      reply.append(...rich(question.asks), html("br"), "You: ", html("q", {}, ...rich(option[0])), " ", verdict, " ");
      reply.append(...rich(option[1]));
    } else reply.append("To find out here: ", ...rich(question.asks));
    asks.replaceChildren(reply, again);
    body.inert = false;
  }

  function answer(chosen) {
    kept.write(chosen);
    unlock(chosen);
    setState(form, chosen === "shown" ? {} : question.then);
    asks.firstChild.focus(); // the button that had the focus is gone
  }

  const remembered = question && kept.read();
  if (question && remembered === null) lock();
  else if (question) {
    unlock(remembered);
    if (remembered !== "shown") setState(form, question.then);
  }

  // In a page of the book a state has an address; a notebook's address is its editor's.
  if (!el.closest(".bd-article")) return leave;
  if (!document.getElementById(name)) el.id = name;
  const mark = `#${name}?`;
  let timer = null;
  function write() {
    const changed = Object.entries(stateOf(form)).filter(([key, value]) => first[key] !== value);
    const hash = changed.length ? mark + new URLSearchParams(changed) : "";
    if (hash === location.hash || (!hash && !location.hash.startsWith(mark))) return;
    try { history.replaceState(history.state, "", hash || location.pathname + location.search); } catch { /* as it was */ }
  }
  function wait() {
    clearTimeout(timer); // browsers refuse many changes of the address in a row
    timer = setTimeout(write, 200);
  }
  function follow() {
    if (!location.hash.startsWith(mark)) return;
    if (body.inert) unlock("shown");
    setState(form, { ...first, ...Object.fromEntries(new URLSearchParams(location.hash.slice(mark.length))) });
    el.scrollIntoView();
  }
  for (const event of ["input", "change", "click", "pointerup"]) form.addEventListener(event, wait);
  addEventListener("hashchange", follow);
  follow();
  return () => {
    leave();
    clearTimeout(timer);
    removeEventListener("hashchange", follow);
  };
}

