// The card of a check, as in a notebook, built from DOM nodes, so that its content is always shown as text.
import { element } from "../_reader/element.js";
import { sided } from "./sides.js";

// As in autograder/notebook/card.py: a glyph for each status, and its words if they differ from its name.
const GLYPHS = { passed: "✓", partial: "◐", missing: "○" };
const WORDS = { missing: "not written yet", partial: "partly right", error: "stopped by an error" };
const kindOf = (status) => (status in GLYPHS ? status : "failed");

export const statusInWords = (status) => WORDS[status] ?? status;
export const pointsInWords = (points, of) => `${Number(points.toPrecision(6))} of ${of} points`;

// `found`: a card as messages.js returns it, for this page's exercise { name, of, tier }. `onward`: the address and the name of
// the part to write next, where all that is written is right.
export function cardOf(found, { name, of, tier }, onward) {
  if (onward) return rightSoFar(found, name, of, onward);
  const badge = element("span", { class: `card-badge card-${kindOf(found.status)}` }, `${GLYPHS[found.status] ?? "✗"} ${statusInWords(found.status)}`);
  const more = `${pointsInWords(found.points, of)}${tier ? `, ${tier}` : ""}`;
  const head = element("div", {}, badge, " ", element("b", {}, name), " ", element("span", {}, more));
  return element("div", { class: `card-line card-${kindOf(found.status)}` }, head, ...found.blocks.map(blockOf));
}

// What was found to be wrong with other parts is left out; what can be opened stays, and so do notes about the cells.
function rightSoFar(found, name, of, { to, words }) {
  const head = element("div", {}, element("span", { class: "card-badge card-passed" }, "✓ right so far"), " ", element("b", {}, name), " ", element("span", {}, pointsInWords(found.points, of)));
  const next = element("p", {}, element("b", {}, "All that you have written is right."), " Next: ", element("a", { href: to }, words), ".");
  return element("div", { class: "card-line card-passed" }, head, next, ...found.blocks.filter((one) => "summary" in one || one.rest?.startsWith("Note:")).map(blockOf));
}

function blockOf(one) {
  if ("summary" in one)
    return element("details", {}, element("summary", {}, one.summary), element("div", { class: "card-inside" }, ...one.inside.map(blockOf)));
  if ("lines" in one) return element("pre", {}, ...withTitle(one.lines));
  return element("p", {}, ...(one.cause ? [element("b", {}, ...withCode(one.cause)), " "] : []), ...withCode(one.rest));
}

// A case's title is a sentence, which wraps; the numbers below it stay in their columns, and scroll.
function withTitle(lines) {
  const [, title, rest] = /^(\S.*:)\n(  [^]*)$/.exec(lines) ?? ["", "", lines];
  return [...(title ? [element("span", { class: "card-title" }, title)] : []), ...sided(rest)];
}

// A sentence, with what is in backticks as code.
const withCode = (text) => text.split(/`([^`\n]+)`/).map((piece, at) => (at % 2 ? element("code", {}, piece) : piece));
// The same for a screen reader, which would read the backticks.
export const withoutBackticks = (text) => text.replace(/`([^`\n]+)`/g, "$1");
