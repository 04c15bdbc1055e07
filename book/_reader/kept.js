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

// The parts of a chapter that were on the screen, of PARTS equal ones. Former editions have stored how far one had scrolled.
export const PARTS = 100;
export function seenIn(slug, found = parsed(placeKey(slug))) {
  if (Number.isFinite(found)) return new Set(Array.from({ length: Math.min(PARTS, Math.max(0, Math.round(found))) }, (_, at) => at));
  if (typeof found !== "string" || !/^[\da-f]{25}$/.test(found)) return new Set();
  return new Set([...found].flatMap((digit, at) => [0, 1, 2, 3].filter((bit) => parseInt(digit, 16) & (2 ** bit)).map((bit) => 4 * at + bit)));
}
// Parts as they are stored: hexadecimal digits, of four parts each.
export const packed = (parts) =>
  Array.from({ length: PARTS / 4 }, (_, digit) => [0, 1, 2, 3].reduce((sum, bit) => sum + (parts.includes(4 * digit + bit) ? 2 ** bit : 0), 0).toString(16)).join("");
// How much of a chapter was read, in per cent.
export const placeIn = (slug) => seenIn(slug).size;

// The id of the section where the reader was last; "" if none is known.
export function sectionIn(slug) {
  const found = parsed(sectionKey(slug));
  return typeof found === "string" && /^[\w.-]{1,100}$/.test(found) ? found : "";
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
export const sectionKey = (slug) => `section:${slug}`;

// Counts of a lesson's quizzes: all, answered, and right at the first try.
export function score(slug, ids) {
  const found = ids.map((id) => chosenIn(slug, id)).filter(Boolean);
  return { all: ids.length, asked: found.length, first: found.filter((one) => one.first).length };
}
