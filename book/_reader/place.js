// Tracks reading: a line at the top of the screen, the parts of a chapter that were on the screen, for the front page, and the
// section where the reader is, at which the chapter offers to go on next time.
import { element } from "./element.js";
import { titleOf } from "./title.js";
import { keep, lesson, packed, placeKey, PARTS, seenIn, sectionIn, sectionKey } from "./kept.js";

const STEP = 1000; // ms; a part counts as read once it was on the screen that long, so that a jump over it does not

export function keepPlace() {
  const article = document.querySelector("article");
  if (!article || !/^ch\d\d_/.test(lesson())) return;
  const bar = element("div", { class: "read-bar", "aria-hidden": "true" });
  const ends = [...article.querySelectorAll(".sitting-end")].map((end) => ({ end, mark: element("i") }));
  document.body.append(bar, element("div", { class: "read-stops", "aria-hidden": "true" }, ...ends.map(({ mark }) => mark)));
  offer(article);
  let before = new Set();
  // The parts that are on the screen; the last one counts when the chapter's end is.
  const visible = () => {
    const { top, height } = article.getBoundingClientRect();
    const part = (y) => Math.floor((PARTS * (y - top)) / height);
    const [first, last] = [Math.max(0, part(0)), Math.min(PARTS - 1, part(innerHeight))];
    return new Set(Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at));
  };
  const look = () => {
    if (document.hidden || scrollY === 0) return (before = new Set());
    const now = visible(), seen = seenIn(lesson());
    const more = [...now].filter((part) => before.has(part) && !seen.has(part));
    before = now;
    if (more.length) keep(placeKey(lesson()), packed([...seen, ...more]));
    const here = [...article.querySelectorAll("section[id]")].filter((one) => one.getBoundingClientRect().top < innerHeight / 4).at(-1);
    if (here && here.id !== sectionIn(lesson())) keep(sectionKey(lesson()), here.id);
  };
  setInterval(look, STEP);
  let waiting = false;
  const draw = () => {
    waiting = false;
    const { top, height } = article.getBoundingClientRect();
    bar.style.transform = `scaleX(${Math.min(1, Math.max(0, (innerHeight - top) / height))})`;
    for (const { end, mark } of ends) mark.style.left = `${(100 * (end.getBoundingClientRect().bottom - top)) / height}%`;
  };
  draw();
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }, { passive: true });
}

// A link to the section where the reader was last, below the chapter's title.
function offer(article) {
  if (location.hash) return;
  const section = document.getElementById(sectionIn(lesson()));
  const [first] = article.querySelectorAll("section section[id]");
  const heading = section?.matches("section") && section !== first && section.querySelector(":scope > :is(h2, h3, h4)");
  const title = article.querySelector("h1");
  if (!heading || !title) return;
  title.after(element("p", { class: "go-on" }, element("a", { href: `#${section.id}` }, "Go on at: ", ...titleOf(heading))));
}
