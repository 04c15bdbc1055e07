// A piece of code that a reader can edit: the page's own element until the first click, an editor after it.
import { contentOf, element } from "../_reader/element.js";
import { afresh } from "./python.js";
import { showNodes, showText } from "./shown.js";
import { deleteAside, draftKey, formerKeys, formers, listen, problem, read, replacing, SET_ASIDE, setAside, taken, undoing, write } from "./store.js";

export class Code {
  // `still`: the element with the page's code; `key`: names the draft; `run`: called for Ctrl+Enter; `words`: the edit
  // button's text without a draft, and with one.
  constructor(still, key, label, run, words) {
    Object.assign(this, { still, key: draftKey(key), label, run, words, compared: null, isAnew: () => false, whenOpened: () => {} });
    this.original = still.querySelector("pre").textContent.replace(/\n$/, "");
    this.page = contentOf(still.querySelector("pre"));
    const button = (text, onclick) => element("button", { type: "button", class: "page-button page-quiet", onclick }, text);
    this.write = button("", () => this.open());
    this.comparing = button("", () => this.compare(this.compared ? null : this.base));
    this.resetting = button("Reset", () => this.reset());
    this.formerKeys = formerKeys(this.key);
    this.undoing = button("Undo", () => this.undo());
    this.undoing.title = "Bring back what Reset or Load has replaced; press it again for what was there before that";
    this.tools = [this.write, this.comparing, this.resetting, this.undoing];
    this.unkept = element("p", { class: "page-unkept", role: "status" }); // shown while a draft is not stored
    still.after(this.unkept);
    this.showDraft();
    this.buttons();
    listen((changed) => {
      if (changed !== this.key && !this.formerKeys.includes(changed)) return;
      if (changed === this.key && this.editor) this.editor.text = read(this.key) ?? this.original; // from another tab, or from a file
      else if (changed === this.key) this.showDraft();
      this.buttons();
    });
  }

  // Show only the buttons that have an effect now.
  buttons() {
    this.write.hidden = Boolean(this.editor);
    this.write.textContent = this.words[Number(this.changed)];
    const compared = Boolean(this.compared);
    this.comparing.hidden = !this.changed && !compared;
    const [, since] = compared ? this.compared : this.base;
    this.comparing.textContent = `${compared ? "Hide" : "Show"} changes${since}`;
    this.resetting.hidden = !this.changed && !this.isAnew() && !taken(this.key);
    this.undoing.hidden = !formers(this.key).length;
    const said = setAside(this.key) ? SET_ASIDE : [this.key, ...this.formerKeys].map(problem).find(Boolean) ?? "";
    if (said !== this.unkept.textContent) this.unkept.textContent = said; // so that screen readers read it once
  }

  get text() { return this.editor?.text ?? read(this.key) ?? this.original; }
  get changed() { return this.text !== this.original; }
  // What changes are shown against, with the button's words for it: the text that last passed, or was last checked, while the
  // page is open; where the reader has not written on since, the page's own.
  get base() { return [this.passed, this.checked].find((one) => one && one[0] !== this.text) ?? [this.original, ""]; }
  get draft() { return this.changed ? this.text : null; }

  showDraft() {
    const pre = this.still.querySelector("pre");
    const draft = read(this.key);
    if (draft === null) showNodes(pre, this.page);
    else showText(pre, draft);
  }

  async open() {
    if (!this.opening) this.whenOpened();
    this.opening ??= import("./editor.js").then((editor) => {
      const place = element("div", { class: "page-editor" });
      this.still.after(place);
      this.editor = editor.open(place, this.text, {
        label: this.label,
        run: this.run,
        changed: (text) => ((this.marked = null), write(this.key, text === this.original ? null : text)),
      });
      this.still.hidden = true;
      this.mark(this.marked);
      this.buttons();
    }).catch(() => {
      this.opening = undefined; // the next click tries again
      this.unkept.textContent = "The editor could not be fetched: is there a network?";
    });
    await this.opening;
    if (!this.editor) return;
    this.editor.focus();
  }

  // Show the reader's changes to a `base`, or hide them; the library for it is loaded on the first use.
  async compare(base) {
    await this.open();
    if (!this.editor) return;
    await this.editor.compare(base?.[0] ?? null);
    this.compared = base;
    this.buttons();
    this.comparing.focus();
  }

  // The text as it is was checked.
  wasChecked(passed) {
    this.checked = [this.text, " since the check"];
    if (passed) this.passed = [this.text, " since it passed"];
    this.buttons();
  }

  // Mark a line of the editor, now or when it opens; null removes the mark, and so does typing.
  mark(line) {
    this.marked = line;
    this.editor?.mark(line);
  }

  set(text) {
    if (this.editor) this.editor.text = text;
    write(this.key, text === this.original ? null : text);
  }

  // `focus`: whether the keyboard's focus moves here, as after a click.
  async reset(focus = true) {
    if (this.compared) await this.compare(null);
    deleteAside(this.key);
    this.replace(replacing(this.key, null, this.draft), focus);
  }

  // Swap the text with the one that it replaced.
  async undo() {
    if (this.compared) await this.compare(null);
    if (formers(this.key).length) this.replace(undoing(this.key, this.draft));
  }

  replace([[, text], ...formerOnes], focus = true) {
    this.set(text ?? this.original);
    formerOnes.forEach(([key, former]) => write(key, former));
    afresh(); // what ran may have been somebody else's code
    this.buttons();
    if (!focus) return;
    if (this.editor) this.editor.focus();
    else this.write.focus();
  }
}

// The status line below a cell, with a progress bar while something is fetched or started, and the seconds since the start.
export class Line {
  constructor() {
    this.words = element("span");
    this.clock = element("span", { "aria-hidden": "true" }); // screen readers should not read each second
    this.bar = element("progress", { max: 1, hidden: true, "aria-label": "fetched" });
    this.box = element("p", { class: "page-line" }, this.bar, element("span", { role: "status" }, this.words), this.clock);
  }
  // `share` is null where something is under way and nobody knows how far. `link`: { words, to } of a link to append to the text.
  show({ text = "", share, link } = {}) {
    this.words.replaceChildren(text, ...(link ? [element("a", { href: link.to }, link.words), "."] : []));
    this.bar.hidden = share === undefined;
    if (share === undefined) return;
    if (share === null) this.bar.removeAttribute("value"); // the bar moves to and fro
    else this.bar.value = share;
    this.bar.setAttribute("aria-label", share === null ? "under way" : "fetched");
  }
  // Count seconds until `done` is called; `most` is the time limit in words, if there is one.
  begin(most) {
    clearInterval(this.ticking);
    const began = performance.now();
    this.ticking = setInterval(() => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      if (seconds > 0) this.clock.textContent = `${seconds} s${most ? `; it may take ${most}` : ""}`;
    }, 250);
  }
  done() {
    clearInterval(this.ticking);
    this.clock.textContent = "";
    this.bar.hidden = true;
  }
}

export const KEYS = "Ctrl+Enter or Shift+Enter in the editor does the same"; // Cmd+Enter on a Mac, too

// Two buttons, of which one is visible: start or Stop.
export class Switch {
  constructor(words, start, stop) {
    this.start = element("button", { type: "button", class: "page-button page-main", onclick: start }, words);
    this.halt = element("button", { type: "button", class: "page-button", hidden: true, onclick: stop }, "Stop");
  }
  busy(is) {
    const held = [this.start, this.halt].includes(document.activeElement);
    [this.start.hidden, this.halt.hidden] = [is, !is];
    if (held) (is ? this.halt : this.start).focus(); // keyboard focus moves to the other button
  }
}
