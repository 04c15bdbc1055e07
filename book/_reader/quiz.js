// Quizzes: choose, check, and read the answer to the choice. The score counts first tries.
import { Choices } from "./choices.js";
import { noteAnswer } from "./dues.js";
import { chosenIn, keep, lesson, quizKey, score } from "./kept.js";

class Quiz {
  constructor(box, page) {
    Object.assign(this, { page, id: box.id });
    this.key = quizKey(lesson(), box.id);
    this.options = [...box.querySelectorAll(":scope > .quiz-option")];
    this.right = this.options.flatMap((one, at) => (one.classList.contains("right") ? [at] : []));
    const [question, ...lead] = [...box.children].filter((one) => !this.options.includes(one));
    const texts = this.options.map((one) => one.querySelector("summary"));
    this.choices = new Choices({ question, lead, options: texts, several: this.right.length > 1, name: box.id });
    this.choices.checked = () => this.check();
    box.prepend(this.choices.form);
    box.classList.add("quiz-live"); // from now on the folded options are only for print
    const before = this.before();
    if (before) {
      this.choices.choose(before.chosen);
      this.show(before.chosen);
    }
  }

  // The stored choice, if the quiz still has these options.
  before() {
    const found = chosenIn(lesson(), this.id);
    return found && found.chosen.every((at) => at < this.options.length) ? found : null;
  }

  check() {
    const chosen = this.choices.chosen();
    const good = this.show(chosen);
    const before = this.before();
    const refused = keep(this.key, { first: before ? before.first : good, chosen });
    noteAnswer(lesson(), this.id, good);
    const more = !good && chosen.every((at) => this.right.includes(at)) ? "There is more that is right." : "Not yet: choose again.";
    this.choices.said.textContent = [good ? "Right." : more, this.page.score(), refused].filter(Boolean).join(" ");
  }

  // Mark and answer a choice. Returns whether it is right.
  show(chosen) {
    const isRight = (at) => this.right.includes(at);
    this.choices.mark(chosen.map((at) => [at, isRight(at)]));
    this.choices.answer(chosen.map((at) => ({ right: isRight(at), content: this.options[at].querySelector(".quiz-answer") })));
    return chosen.length === this.right.length && chosen.every(isRight);
  }
}

export function quizzes() {
  const boxes = [...document.querySelectorAll(".quiz[id]")];
  const page = {
    score: () => {
      const { all, asked, first } = score(lesson(), boxes.map((box) => box.id));
      return `First tries on this page: ${first} of ${asked} right, ${all > asked ? `${all - asked} to go` : "all answered"}.`;
    },
  };
  for (const box of boxes) new Quiz(box, page);
}
