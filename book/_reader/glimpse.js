// The content of a link's preview: copies of elements at its target, in this page or a fetched one.
import { element } from "./element.js";

const ENOUGH = 420; // characters of a section
const NOT_SHOWN = "script, style, form, button, iframe, object, embed, link, meta, base, foreignObject, .headerlink, .copybtn, .live-tools, .widget, .exercise, .exercise-card, .page-progress, .page-small, details, .quiz, .predict, div.rule, .citation > .label, [hidden]";
const DROPPED = /^(?:id|role|tabindex|aria-describedby|aria-labelledby|on.*)$/i; // our pages have no handlers in attributes
const HEADING = "h1, h2, h3, h4, h5, h6";

// Elements of `page` that summarise the target `id`; none if it does not exist. Without an id, a summary of the page.
export function glimpse(page, id) {
  if (!id) return beginning(page.querySelector("article h1"));
  const target = page.getElementById(id);
  if (!target) return [];
  const figure = target.closest("figure");
  if (figure) return [figure];
  if (target.matches("dt")) return [target, meaning(target)].filter(Boolean);
  const next = target.matches("span:empty") ? target.nextElementSibling : target; // a label precedes its target
  const heading = target.matches("section") ? target.querySelector(HEADING) : next?.matches(HEADING) && next;
  return heading ? beginning(heading) : [next].filter(Boolean);
}

// The definition of a term in a list; several terms may share one.
function meaning(term) {
  const next = term.nextElementSibling;
  return next?.matches("dt") ? meaning(next) : next;
}

// A heading and the elements after it, up to ENOUGH characters; for a page's title, its TL;DR.
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

// Copies that work in any page: without ids and buttons, and with absolute addresses of pictures.
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
