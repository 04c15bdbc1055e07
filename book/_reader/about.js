// What a question of "Due today" is about, as copies from its chapter: the code of a prediction, the figure, table or code
// before a quiz, the contract and the stub of an exercise; and what stands above in the section, which opens on a click.
import { element } from "./element.js";
import { copies } from "./glimpse.js";

const CARRIED = "figure, table, .cell, .pst-scrollable-table-container, [class*='highlight-'], .math";
const LEFT_OUT = ".quiz, .predict, .exercise, .exercise-rules, .page-progress, .page-end, .go-on, div.rule, script, style, details, [hidden]";
const HEADING = "h1, h2, h3, h4, h5, h6";
const MOST = 4000; // characters of the section

const code = (box) => [...(box?.querySelectorAll("[class*='highlight-']") ?? [])];
const shown = (elements, address) => (elements.length ? [element("div", { class: "due-about" }, ...copies(elements, address))] : []);

// What is copied beside a question or an exercise; [] if nothing can be cut out.
export function aboutOf(box, address) {
  if (box.matches(".exercise")) return shown([...box.querySelectorAll(":scope > .exercise-contract"), ...code(box.querySelector(".exercise-part"))], address);
  if (box.matches(".predict")) return shown(code(box.parentElement.querySelector(":scope > .cell_input")), address);
  const before = box.previousElementSibling;
  return before?.matches(CARRIED) ? shown([before], address) : [];
}

// The section above the question, as a closed fold; [] if there is nothing.
export function sectionOf(box, address) {
  const found = [];
  let letters = 0, one = box.closest(".cell") ?? box;
  while ((one = one.previousElementSibling) && letters < MOST && !one.matches("section")) {
    if (one.matches(LEFT_OUT)) continue;
    found.unshift(one);
    letters += one.textContent.length;
    if (one.matches(HEADING)) break;
  }
  if (!found.some((each) => !each.matches(HEADING))) return [];
  const fold = element("details", { class: "due-section" }, element("summary", {}, "Show what the chapter says before it"));
  fold.addEventListener("toggle", () => fold.open && fold.children.length === 1 && fold.append(...shown(found, address)));
  return [fold];
}
