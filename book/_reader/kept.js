// Stores the reader's quiz choices and reading progress in this browser.
import { parsed, read, write } from "../_page/store.js";

export { listen } from "../_page/store.js";

export const lesson = () => location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";

// The choice in a quiz: indices of options, and whether the first try was right; null if there is none.
export function chosenIn(slug, id) {
  const found = parsed(quizKey(slug, id));
  const places = found?.chosen;
  if (!Array.isArray(places) || !places.every((at) => Number.isInteger(at) && at >= 0 && at < 100)) return null;
  return { first: found.first === true, chosen: places };
}

// How much of a chapter was read, in per cent.
export function placeIn(slug) {
  const found = parsed(placeKey(slug));
  return Number.isFinite(found) ? Math.min(100, Math.max(0, Math.round(found))) : 0;
}

// Store a value. Returns a message if that fails, else "".
export function keep(key, value) {
  return write(key, value === null ? null : JSON.stringify(value)) ? "This browser keeps nothing for this page: your answers are forgotten when you leave." : "";
}

// What a reader has derived for an exercise, as text; a longer value is none of ours.
export const MOST_NOTE = 5000;
export function noteIn(name) {
  const found = read(noteKey(name));
  return found !== null && found.length <= MOST_NOTE ? found : "";
}
export const keepNote = (name, text) => (write(noteKey(name), text || null) ? "This browser keeps nothing for this page: your note is lost when you leave." : "");

export const noteKey = (name) => `note:${name}`;
export const quizKey = (slug, id) => `quiz:${slug}/${id}`;
export const placeKey = (slug) => `place:${slug}`;

// Counts of a lesson's quizzes: all, answered, and right at the first try.
export function score(slug, ids) {
  const found = ids.map((id) => chosenIn(slug, id)).filter(Boolean);
  return { all: ids.length, asked: found.length, first: found.filter((one) => one.first).length };
}
