// Shows the reader's progress in each lesson on its card of the front page.
import { result } from "../_page/store.js";
import { element } from "./element.js";
import { listen, placeIn, score } from "./kept.js";

function standing({ slug, quizzes, exercises }) {
  const place = placeIn(slug);
  const { first, asked } = score(slug, quizzes);
  const tried = exercises.map(([name, points]) => ({ ...result(slug, name), points })).filter((one) => one.status && one.status !== "missing");
  const solved = tried.filter((one) => (one.best ?? 0) >= one.points).length;
  const parts = [
    place && `read ${place} %`,
    asked && `quizzes ${first} of ${quizzes.length}`,
    tried.length && `exercises ${solved} of ${exercises.length}`,
  ].filter(Boolean);
  return { begun: parts.length > 0, done: place >= 97 && asked === quizzes.length && solved === exercises.length, words: parts.join(" · ") };
}

export function cards() {
  const data = document.getElementById("lessons-of-the-book");
  if (!data) return;
  const shown = [];
  for (const lesson of JSON.parse(data.textContent)) {
    const card = [...document.querySelectorAll(".sd-card")].find((one) => one.querySelector(`a[href^="${lesson.slug}.html"]`));
    if (!card) continue;
    const state = element("p", { class: "lesson-state" });
    card.querySelector(".sd-card-body").append(state);
    shown.push(() => {
      const { begun, done, words } = standing(lesson);
      card.classList.toggle("lesson-begun", begun);
      state.textContent = done ? "Done" : begun ? words : "Not begun";
    });
  }
  const show = () => ((waiting = false), shown.forEach((one) => one()));
  let waiting = false;
  show();
  listen(() => { // a file of progress has hundreds of entries
    if (!waiting) setTimeout(show);
    waiting = true;
  });
}
