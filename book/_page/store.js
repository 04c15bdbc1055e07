// What a page remembers, in this browser: drafts, and how the exercises went. Storage may be full, or refused.
import { STATUSES } from "./statuses.js";

const PREFIX = "backprop:";
let refused = "";
const heard = new Set();
const unkept = new Map(); // what storage has refused, for as long as the page is open

export function read(key) {
  if (unkept.has(key)) return unkept.get(key);
  try { return localStorage.getItem(PREFIX + key); } catch { return null; }
}

export function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
    unkept.delete(key);
    refused = "";
  } catch (error) {
    unkept.set(key, value);
    refused = error.name === "QuotaExceededError"
      ? "This browser's storage is full: what you type is lost when you leave. Save your work as a notebook."
      : "This browser stores nothing for this page: what you type is lost when you leave. Save your work as a notebook.";
  }
  heard.forEach((listen) => listen(key, value));
  return refused;
}

export const problem = () => refused;

// Told of changes here and in other tabs.
export function listen(to) { heard.add(to); }
addEventListener("storage", ({ key, newValue }) => {
  if (key?.startsWith(PREFIX)) heard.forEach((to) => to(key.slice(PREFIX.length), newValue));
});

export const draftKey = (cell) => `draft:${cell}`;
export const resultKey = (lesson, exercise) => `result:${lesson}/${exercise}`;

// Storage belongs to all pages of the origin, not to the book alone: what is found in it is held to what we write.
export function parsed(key) {
  try { return JSON.parse(read(key)); } catch { return null; }
}
const points = (value) => (Number.isFinite(value) ? Math.min(Math.max(value, 0), 1000) : 0);
export function result(lesson, exercise) {
  const found = parsed(resultKey(lesson, exercise));
  if (!STATUSES.includes(found?.status)) return null;
  const { status, best, of, misconception, hints } = found;
  return {
    status, points: points(found.points), of: points(of), best: points(best), hints: Math.floor(points(hints)),
    misconception: typeof misconception === "string" ? misconception : null,
  };
}

// Cells of a loaded notebook that are none of the lesson's: [{ before, source }].
export const ownCellsKey = (lesson) => `own:${lesson}`;
export function ownCells(lesson) {
  const found = parsed(ownCellsKey(lesson));
  return Array.isArray(found) ? found.filter((one) => typeof one?.before === "string" && typeof one.source === "string") : [];
}
