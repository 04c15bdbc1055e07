// A field for the reader's own derivation, below the question of a rule and above the rule itself.
import { element } from "./element.js";
import { listen, MOST_NOTE, noteIn, noteKey, keepNote } from "./kept.js";

export function derivations() {
  for (const box of document.querySelectorAll(".rule[data-exercise]")) {
    const name = box.dataset.exercise;
    const field = element("textarea", { class: "rule-note", rows: 2, maxLength: MOST_NOTE, placeholder: "Your answer …", "aria-label": `Your derivation for ${name.split("/").at(-1)}` });
    const said = element("p", { class: "rule-said", role: "status" });
    const show = () => {
      field.value = noteIn(name);
      field.rows = Math.min(12, Math.max(2, field.value.split("\n").length + 1));
    };
    field.addEventListener("input", () => (said.textContent = keepNote(name, field.value)));
    field.addEventListener("change", show);
    listen((key, value, elsewhere) => elsewhere && key === noteKey(name) && show());
    box.querySelector(".rule-answer").before(field, said);
    show();
  }
}
