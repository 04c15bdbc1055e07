// "Check all": checks several exercises of a page one after the other, and sums up.
import { element } from "../_reader/element.js";

export const exercises = []; // of this page

export class CheckAll {
  constructor() {
    this.button = element("button", { type: "button", class: "page-button page-quiet", onclick: () => (this.running ? this.stop() : this.run()) }, "Check all");
    this.said = element("p", { class: "page-small page-checked", role: "status" });
  }

  stop() {
    this.stopped = true;
    this.now?.halt();
  }

  // Check the exercises of these names; without names, those of which something is written.
  async run(names) {
    if (this.running) return;
    const wanted = exercises.filter((one) => (names ? names.includes(one.name) : one.written));
    if (!wanted.length) return (this.said.textContent = "Nothing is written yet: “Check all” checks the exercises that you have begun.");
    [this.running, this.stopped] = [true, false];
    this.button.textContent = "Stop checking";
    const found = [];
    for (const [at, one] of wanted.entries()) {
      this.said.textContent = `Checking ${at + 1} of ${wanted.length}: ${one.name}`;
      this.now = one;
      const status = await one.check(undefined, { quiet: true });
      if (status || !this.stopped) found.push([one.name, status]);
      if (this.stopped) break;
    }
    this.running = false;
    this.button.textContent = "Check all";
    this.sum(found, wanted.length);
  }

  // `found`: [name, status], where a check without a verdict has no status: Stop, no network, or one that ran already.
  sum(found, all) {
    const judged = found.filter(([, status]) => status);
    const of = (is) => found.filter(([, status]) => is(status));
    const passed = of((status) => status === "passed").length;
    const failed = of((status) => status && status !== "passed"), open = of((status) => !status);
    const links = (some) => some.flatMap(([name], at) => [at ? ", " : "", element("a", { href: `#${name}` }, element("code", {}, name))]);
    const stopped = found.length < all ? `Stopped after ${found.length} of ${all}. ` : "";
    this.said.replaceChildren(
      stopped,
      ...(judged.length ? [`Checked ${judged.length}: ${passed} passed`, ...(failed.length ? [`, ${failed.length} not: `, ...links(failed)] : []), ". "] : []),
      ...(open.length ? [`${open.length} could not be checked: `, ...links(open), "."] : []),
    );
  }
}
