// Tracks reading progress: shows it as a line at the top of the screen, and stores it for the front page.
import { element } from "./element.js";
import { keep, lesson, placeIn, placeKey } from "./kept.js";

export function keepPlace() {
  const article = document.querySelector("article");
  if (!article || !/^ch\d\d_/.test(lesson())) return;
  const bar = element("div", { class: "read-bar", "aria-hidden": "true" });
  document.body.append(bar);
  let furthest = placeIn(lesson());
  let waiting = false;
  const look = () => {
    waiting = false;
    const { top, height } = article.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (innerHeight - top) / height));
    bar.style.transform = `scaleX(${share})`;
    const percent = Math.round(100 * share);
    if (scrollY > 0 && percent > (furthest = Math.max(furthest, placeIn(lesson())))) keep(placeKey(lesson()), (furthest = percent));
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }, { passive: true });
}
