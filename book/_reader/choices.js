// A form for a question and its options: radio buttons, or checkboxes if several options are right.
import { contentOf, element } from "./element.js";

// The name of an option that is a formula alone: its TeX, because not every tool reads MathML. "" if it has words.
function formulaIn(option) {
  const words = option.cloneNode(true), formulas = [...words.querySelectorAll("annotation")].map((one) => one.textContent.trim());
  words.querySelectorAll(".katex").forEach((one) => one.remove());
  return words.textContent.trim().length > 1 ? "" : formulas.join(" "); // a full stop is no word
}

export class Choices {
  // `question`, `lead` and `options` are elements of the page; the form shows copies of their content.
  constructor({ question, lead = [], options, several = false, name }) {
    this.inputs = options.map((_, at) => element("input", { type: several ? "checkbox" : "radio", name, value: String(at), "aria-label": formulaIn(options[at]) || null }));
    this.labels = options.map((option, at) =>
      element("label", { class: "choice" }, this.inputs[at], element("span", {}, ...contentOf(option))));
    this.said = element("span", { class: "choices-said", role: "status" });
    this.reply = element("div", { class: "choices-reply", "aria-live": "polite" });
    this.tools = element("div", { class: "choices-tools" }, element("button", { type: "submit", class: "choices-check" }, "Check"), this.said);
    const fields = element("fieldset", {}, element("legend", {}, ...contentOf(question)), ...lead.map((one) => one.cloneNode(true)), ...this.labels);
    this.form = element("form", { class: "choices" }, fields, this.tools, this.reply);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.chosen().length) this.checked();
      else this.said.textContent = several ? "Choose one or more first." : "Choose one first.";
    });
    this.form.addEventListener("change", () => {
      this.said.textContent = "";
      this.mark([]);
      this.reply.replaceChildren();
    });
  }

  chosen() { return this.inputs.flatMap((input, at) => (input.checked ? [at] : [])); }

  choose(places) { this.inputs.forEach((input, at) => (input.checked = places.includes(at))); }

  // `verdicts`: [index of an option, whether it is right].
  mark(verdicts) {
    for (const label of this.labels) label.classList.remove("right", "wrong");
    for (const [at, right] of verdicts) this.labels[at].classList.add(right ? "right" : "wrong");
  }

  answer(parts) {
    this.reply.replaceChildren(...parts.map(({ right, content }) =>
      element("div", { class: `quiz-answer ${right ? "right" : "wrong"}` }, ...contentOf(content))));
  }
}
