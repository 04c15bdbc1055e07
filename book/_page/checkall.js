// "Check all": checks several exercises of a page one after the other, and sums up.
import { element } from "../_reader/element.js";

export const exercises = []; // of this page

export class CheckAll {
  constructor() {
    this.button = element("button", { type: "button", class: "page-button page-quiet", onclick: () => (this.running ? this.stop() : this.run()) }, "Check all");
    this.said = element("p", { class: "page-small page-checked", role: "status" });
  }

  stop() {
    this.running = false;
    this.now?.halt();
  }

  // Check the exercises of these names; without names, those of which something is written.
  async run(names) {
    const wanted = exercises.filter((one) => (names ? names.includes(one.name) : one.written));
    if (!wanted.length) return (this.said.textContent = "Nothing is written yet: “Check all” checks the exercises that you have begun.");
    this.running = true;
    this.button.textContent = "Stop checking";
    const found = [];
    for (const [at, one] of wanted.entries()) {
      this.said.textContent = `Checking ${at + 1} of ${wanted.length}: ${one.name}`;
      this.now = one;
      found.push([one.name, await one.check(undefined, { quiet: true })]);
      if (!this.running) break;
    }
    this.running = false;
    this.button.textContent = "Check all";
    this.sum(found, wanted.length);
  }

  sum(found, all) {
    const passed = found.filter(([, status]) => status === "passed").length;
    const rest = found.filter(([, status]) => status !== "passed");
    const links = rest.flatMap(([name], at) => [at ? ", " : "", element("a", { href: `#${name}` }, element("code", {}, name))]);
    const stopped = found.length < all ? `Stopped after ${found.length} of ${all}. ` : "";
    this.said.replaceChildren(`${stopped}Checked ${found.length}: ${passed} passed${rest.length ? `, ${rest.length} not: ` : "."}`, ...links, rest.length ? "." : "");
  }
}
