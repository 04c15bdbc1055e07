// What the reader has chosen and read, kept in this browser beside drafts and results.
import { parsed, write } from "../_page/store.js";

export { listen } from "../_page/store.js";

export const lesson = () => location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";

// What was chosen in a quiz: the options by their places, and whether the first try was right.
export function chosenIn(slug, id) {
  const found = parsed(quizKey(slug, id));
  const places = found?.chosen;
  if (!Array.isArray(places) || !places.every((at) => Number.isInteger(at) && at >= 0 && at < 100)) return null;
  return { first: found.first === true, chosen: places };
}

// How far a chapter was read, in per cent.
export function placeIn(slug) {
  const found = parsed(placeKey(slug));
  return Number.isFinite(found) ? Math.min(100, Math.max(0, Math.round(found))) : 0;
}

// Returns what to say where the browser keeps nothing.
export function keep(key, value) {
  return write(key, value === null ? null : JSON.stringify(value)) ? "This browser keeps nothing for this page: your answers are forgotten when you leave." : "";
}

export const quizKey = (slug, id) => `quiz:${slug}/${id}`;
export const placeKey = (slug) => `place:${slug}`;

// How a lesson's quizzes went, of those that the book has now.
export function score(slug, ids) {
  const found = ids.map((id) => chosenIn(slug, id)).filter(Boolean);
  return { all: ids.length, asked: found.length, first: found.filter((one) => one.first).length };
}
