// A record of what the reader has solved, to print. Nobody has verified it, and it says so.
import { element } from "../_reader/element.js";
import { chapters, isSolved } from "./course.js";
import { result } from "./store.js";
import { inWords, standing } from "./standing.js";

const NO_CREDIT = "A record for its reader: it gives no credit. The exercises were checked in a browser, by a program that this browser ran, and nobody has verified it.";

function recordOf() {
  const rows = chapters.filter(({ exercises }) => exercises.length).map(({ slug, title, exercises }) => {
    const solved = exercises.filter((one) => isSolved(slug, one));
    const names = solved.map(([name]) => (result(slug, name).shown ? `${name} (with the solution)` : name)).join(", ");
    return solved.length ? element("li", {}, element("b", {}, title), `: ${inWords(standing(slug, exercises))}. `, element("span", {}, names), ".") : null;
  }).filter(Boolean);
  const date = new Date().toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" });
  return element("section", { class: "print-record" },
    element("p", { class: "record-head" }, "Backpropagation by hand"), element("p", {}, `Exercises solved in the pages of the book, as of ${date}`),
    element("p", {}, "Name: "), element("ul", {}, ...rows), element("p", { class: "page-small" }, NO_CREDIT));
}

export function printRecord() {
  const record = recordOf();
  document.body.append(record);
  document.body.classList.add("record-alone");
  const end = () => {
    record.remove();
    document.body.classList.remove("record-alone");
    removeEventListener("afterprint", end);
  };
  addEventListener("afterprint", end);
  print();
}
