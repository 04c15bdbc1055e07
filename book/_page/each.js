// Start something for each element of the page. An element that fails shows a message, and the others start all the same.
import { element } from "../_reader/element.js";

export function each(selector, start) {
  for (const one of document.querySelectorAll(selector)) {
    try {
      start(one);
    } catch (error) {
      console.error(error);
      one.append(element("p", { class: "page-unkept" }, `This part of the page could not start (${error.message}). The rest of the page works; what you wrote is kept.`));
    }
  }
}
