// What a preview shows of the place that a link leads to: copies of elements of this page, or of one that was fetched.
import { element } from "./element.js";

const ENOUGH = 420; // letters of a section
const NOT_SHOWN = "script, style, form, button, iframe, object, embed, link, meta, base, foreignObject, .headerlink, .copybtn, .live-tools, .widget, .exercise, .exercise-card, .page-progress, .page-small, details, .quiz, .predict, .citation > .label, [hidden]";
const DROPPED = /^(?:id|role|tabindex|aria-describedby|aria-labelledby|on.*)$/i; // a handler is none of ours
const HEADING = "h1, h2, h3, h4, h5, h6";

// Elements of `page` that tell what is at `id`; none where that is not on the page. Without an id: what the page is.
export function glimpse(page, id) {
  if (!id) return beginning(page.querySelector("article h1"));
  const target = page.getElementById(id);
  if (!target) return [];
  const figure = target.closest("figure");
  if (figure) return [figure];
  if (target.matches("dt")) return [target, meaning(target)].filter(Boolean);
  const next = target.matches("span:empty") ? target.nextElementSibling : target; // a label stands before what it names
  const heading = target.matches("section") ? target.querySelector(HEADING) : next?.matches(HEADING) && next;
  return heading ? beginning(heading) : [next].filter(Boolean);
}

// What a list says of a term: several terms may share it.
function meaning(term) {
  const next = term.nextElementSibling;
  return next?.matches("dt") ? meaning(next) : next;
}

// A heading and what follows it, until that is enough. Of a page, its TL;DR.
function beginning(heading) {
  if (!heading) return [];
  const found = [];
  let letters = 0;
  for (let one = heading.nextElementSibling; one && letters < ENOUGH && !one.matches("section"); one = one.nextElementSibling) {
    if (one.matches(NOT_SHOWN) || (heading.matches("h1") && !one.matches(".admonition"))) continue;
    found.push(one);
    letters += one.textContent.length;
    if (heading.matches("h1")) break;
  }
  return [heading, ...found];
}

// Copies that can stand on any page: no ids, nothing to press, pictures with their whole address.
export function copies(elements, address) {
  return elements.map((original) => {
    const box = element("div", {}, document.importNode(original, true));
    for (const one of box.querySelectorAll(NOT_SHOWN)) one.remove();
    for (const one of box.querySelectorAll("img")) {
      one.src = new URL(one.getAttribute("src"), address).href;
      one.loading = "eager";
    }
    for (const one of box.querySelectorAll(HEADING)) replaced(one, element("p", { class: "preview-title" }));
    for (const one of box.querySelectorAll("a")) replaced(one, element("span", { class: "preview-link" }));
    for (const one of box.querySelectorAll("*"))
      for (const { name } of [...one.attributes]) if (DROPPED.test(name)) one.removeAttribute(name);
    return box.firstElementChild;
  }).filter((one) => one && (one.textContent.trim() || one.querySelector("img")));
}

function replaced(old, by) {
  by.append(...old.childNodes);
  old.replaceWith(by);
}
