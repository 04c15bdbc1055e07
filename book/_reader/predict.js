// Predict, then see: an output stays closed until the reader chooses an option or opens it.
import { Choices } from "./choices.js";
import { noteAnswer } from "./dues.js";
import { chosenIn, keep, lesson, quizKey } from "./kept.js";

export function predictions() {
  for (const [number, box] of document.querySelectorAll(".predict").entries()) {
    const closed = box.parentElement.querySelector(":scope > .cell_output > .predict-output");
    const options = [...box.querySelectorAll(":scope > .predict-options > li")];
    const choices = new Choices({ question: box.querySelector(".predict-question"), options, name: `predict-${number}` });
    const right = options.findIndex((option) => option.classList.contains("right"));
    if (!closed) continue; // a book built without outputs
    const answers = [...closed.querySelectorAll(":scope > .quiz-answer")];
    choices.checked = () => {
      const [chosen] = choices.chosen();
      show(chosen);
      choices.said.textContent = chosen === right ? "As you predicted:" : "The output is different:";
      const before = chosenIn(lesson(), box.id);
      const refused = box.id && keep(quizKey(lesson(), box.id), { first: before ? before.first : chosen === right, chosen: [chosen] });
      if (box.id) noteAnswer(lesson(), box.id, chosen === right);
      if (refused) choices.said.textContent += ` (${refused})`;
    };
    const show = (chosen) => {
      choices.mark([[chosen, chosen === right], [right, true]]);
      if (chosen !== right) choices.answer([{ right: false, content: answers[chosen] }]);
      closed.open = true;
    };
    box.prepend(choices.form);
    box.classList.add("predict-live");
    const [chosen, another] = (box.id && chosenIn(lesson(), box.id)?.chosen) || [];
    if (chosen < options.length && another === undefined) {
      choices.choose([chosen]);
      show(chosen);
    }
  }
}
