// The card of a check: what a notebook shows, built of nodes. Whatever it says is text, whoever said it.
import { element } from "../_reader/element.js";

// As in autograder/notebook/card.py: a glyph for each status, and what it is called where that is another word.
const GLYPHS = { passed: "✓", partial: "◐", missing: "○" };
const WORDS = { missing: "not written yet", partial: "partly right", error: "stopped by an error" };
const kindOf = (status) => (status in GLYPHS ? status : "failed");

export const statusInWords = (status) => WORDS[status] ?? status;
export const pointsInWords = (points, of) => `${Number(points.toPrecision(6))} of ${of} points`;

// `found`: a card of messages.js, for the exercise { name, of, tier } of this page.
export function cardOf(found, { name, of, tier }) {
  const badge = element("span", { class: `card-badge card-${kindOf(found.status)}` }, `${GLYPHS[found.status] ?? "✗"} ${statusInWords(found.status)}`);
  const more = `${pointsInWords(found.points, of)}${tier ? `, ${tier}` : ""}`;
  const head = element("div", {}, badge, " ", element("b", {}, name), " ", element("span", {}, more));
  return element("div", { class: `card-line card-${kindOf(found.status)}` }, head, ...found.blocks.map(blockOf));
}

function blockOf(one) {
  if ("summary" in one)
    return element("details", {}, element("summary", {}, one.summary), element("div", { class: "card-inside" }, ...one.inside.map(blockOf)));
  if ("lines" in one) return element("pre", {}, one.lines);
  return element("p", {}, ...(one.cause ? [element("b", {}, one.cause), " "] : []), one.rest);
}
