// What a run printed and returned, below the code that ran; only a part of a long text is shown.
import { element } from "../_reader/element.js";
import { SHOWN } from "./limits.js";
import { sided } from "./sides.js";

export class Output {
  constructor(most = SHOWN) {
    this.most = most;
    this.box = element("pre", { class: "live-out", role: "group", tabindex: "0", "aria-label": "Output" });
  }
  get text() { return this.box.textContent; }
  clear() { this.box.replaceChildren(); }
  remove() { this.box.remove(); }

  print(text, kind) {
    const length = this.text.length;
    if (length > this.most) return;
    const cut = length + text.length > this.most;
    this.box.append(element("span", { class: kind ?? false }, cut ? text.slice(0, this.most - length) + "\n… and more, which is not shown" : text));
    this.box.scrollTop = this.box.scrollHeight;
  }

  // The result of a run: its value, or the picture that the value draws, and its error. Few runs draw: the code for it is
  // fetched when one does, and without a network the value is text.
  async result({ value, picture, error }) {
    const drawn = picture && (await import("./picture.js").then(({ drawing }) => drawing(picture), () => null));
    if (drawn) this.box.append(drawn, element("details", {}, element("summary", {}, "As text"), value ?? ""));
    else if (value) this.print(value);
    if (error) this.print(error, "live-error");
  }

  // Expected and returned values; entries that differ have a `*` before them, and a mark.
  compared(lines) {
    const marked = (text) => text.split(/(\*[-+\w.]+)/).map((one, at) => (at % 2 ? element("mark", {}, one) : one));
    this.box.append(...sided(lines, marked));
  }
}
