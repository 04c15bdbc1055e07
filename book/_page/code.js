// A piece of code that a reader may change: the page's own until then, an editor from the first click on.
import { draftKey, listen, read, write } from "./store.js";

export const element = (tag, attributes = {}, ...children) => {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children);
  return one;
};

export class Code {
  // `still` holds the page's own code; `key` names the draft; `run` is called for Ctrl+Enter.
  constructor(still, key, label, run) {
    Object.assign(this, { still, key: draftKey(key), label, run, changes: () => {} });
    this.original = still.querySelector("pre").textContent.replace(/\n$/, "");
    this.page = still.querySelector("pre").innerHTML;
    this.showDraft();
    listen((changed, value) => {
      if (changed !== this.key) return;
      if (this.editor) this.editor.text = value ?? this.original; // from another tab, or from a file
      else this.showDraft();
      this.changes();
    });
  }

  get text() { return this.editor?.text ?? read(this.key) ?? this.original; }
  get changed() { return this.text !== this.original; }

  showDraft() {
    const pre = this.still.querySelector("pre");
    const draft = read(this.key);
    if (draft === null) pre.innerHTML = this.page;
    else pre.textContent = draft;
  }

  async open() {
    this.opening ??= import("./editor.js").then((editor) => {
      const place = element("div", { class: "page-editor" });
      this.still.after(place);
      this.editor = editor.open(place, this.text, {
        label: this.label,
        run: this.run,
        changed: (text) => write(this.key, text === this.original ? null : text),
      });
      this.still.hidden = true;
    });
    await this.opening;
    this.editor.focus();
  }

  set(text) {
    if (this.editor) this.editor.text = text;
    write(this.key, text === this.original ? null : text);
  }

  reset() { this.set(this.original); }
}

// The line below a cell that says what goes on, with a bar while something is fetched.
export class Line {
  constructor() {
    this.words = element("span");
    this.bar = element("progress", { max: 1, hidden: true, "aria-label": "fetched" });
    this.box = element("p", { class: "page-line", role: "status" }, this.bar, this.words);
  }
  show({ text = "", share } = {}) {
    this.words.textContent = text;
    this.bar.hidden = share === undefined;
    if (share !== undefined) this.bar.value = share;
  }
}

// Buttons of which one is to be seen: what starts, or what stops it.
export class Switch {
  constructor(words, start, stop) {
    this.start = element("button", { type: "button", class: "page-button page-main", onclick: start }, words);
    this.halt = element("button", { type: "button", class: "page-button", hidden: true, onclick: stop }, "Stop");
  }
  busy(is) {
    const held = [this.start, this.halt].includes(document.activeElement);
    [this.start.hidden, this.halt.hidden] = [is, !is];
    if (held) (is ? this.halt : this.start).focus(); // who presses keys finds the next one in the same place
  }
}
