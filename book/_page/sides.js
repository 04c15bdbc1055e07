// Expected and returned arrays, which a card sets side by side (autograder/diagnosis/case.py), as elements of their own: where
// there is no room beside each other, as on a phone, one goes below the other.
import { element } from "../_reader/element.js";

const HEAD = /^(\S[^:]*: )(expected\b.*? {4,})got\b/;

// The nodes of a text; `nodesOf(text)` makes those of a piece.
export function sided(text, nodesOf = (piece) => [piece]) {
  const lines = text.split("\n"), found = [];
  let plain = [];
  const flush = (more) => {
    if (plain.length) found.push(...nodesOf(plain.join("\n") + (more ? "\n" : "")));
    plain = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const [, name, left] = HEAD.exec(lines[at]) ?? [];
    if (!name) { plain.push(lines[at]); continue; }
    const indent = " ".repeat(name.length), column = name.length + left.length;
    let end = at + 1;
    while (end < lines.length && lines[end].startsWith(indent) && lines[end].trim()) end += 1;
    const rows = lines.slice(at, end);
    const side = (from, to) => element("span", {}, ...nodesOf(rows.map((row) => row.slice(from, to).trimEnd()).join("\n").trimEnd()));
    flush(true);
    found.push(element("span", { class: "card-pair" }, element("span", {}, name), element("span", { class: "card-sides" }, side(name.length, column), side(column))));
    at = end - 1;
  }
  flush(false);
  return found;
}
