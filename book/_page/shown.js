// Code that is shown: long lines go on below their own indentation, as in the editor, and have the editor's colours.
import { element } from "../_reader/element.js";

export const HANGS = 2; // columns by which what follows a line's break is indented: fewer than Python's own four
const DEEPEST = 24; // columns that a phone has room for
export const hanging = (text) => Math.min(text.match(/^ */)[0].length, DEEPEST) + HANGS;

// The nodes of each line, whose elements may go over several lines.
function linesOf(nodes) {
  const lines = [[]];
  for (const node of nodes) {
    const pieces = node.nodeType === Node.TEXT_NODE ? node.data.split("\n") : linesOf(node.childNodes).map((inside) => {
      const part = node.cloneNode();
      part.append(...inside);
      return part;
    });
    pieces.forEach((piece, at) => {
      if (at) lines.push([]);
      if (piece !== "") lines.at(-1).push(piece);
    });
  }
  return lines;
}

// Fill a `pre`. A line's end is text in it, so that the code can be read and copied as it is.
function fill(pre, nodes) {
  const lines = linesOf(nodes);
  pre.classList.add("page-codes");
  const box = (line, at) => {
    const one = element("span", { class: "page-code" }, ...line, ...(at < lines.length - 1 ? ["\n"] : []));
    one.style.setProperty("--columns", hanging(one.textContent));
    return one;
  };
  pre.replaceChildren(...lines.map(box).filter((one) => one.textContent));
}

// The page's own code, in the page's own colours.
export const showNodes = fill;

// The text, in its colours as soon as those are fetched; without a network it stays plain.
export function showText(pre, text) {
  fill(pre, [document.createTextNode(text)]);
  import("./colours.js").then(({ coloured }) => pre.textContent === text && fill(pre, coloured(text)), () => {});
  return pre;
}
