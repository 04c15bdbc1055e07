// What the reader has chosen and read, kept in this browser beside drafts and results.
import { problem, read, write } from "../_page/store.js";

export { listen } from "../_page/store.js";

export const lesson = () => location.pathname.split("/").at(-1).replace(/\.html$/, "") || "index";

export function kept(key) {
  try { return JSON.parse(read(key)); } catch { return null; }
}

// Returns what to say where the browser keeps nothing.
export function keep(key, value) {
  write(key, value === null ? null : JSON.stringify(value));
  return problem() ? "This browser keeps nothing for this page: your answers are forgotten when you leave." : "";
}

export const quizKey = (slug, id) => `quiz:${slug}/${id}`;
export const placeKey = (slug) => `place:${slug}`;

// How a lesson's quizzes went, of those that the book has now.
export function score(slug, ids) {
  const found = ids.map((id) => kept(quizKey(slug, id))).filter(Boolean);
  return { all: ids.length, asked: found.length, first: found.filter((one) => one.first).length };
}
