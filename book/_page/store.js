// A page's storage in this browser: drafts and results. Storage may be full or disabled.
import { MOST } from "./limits.js";
import { STATUSES } from "./statuses.js";

const PREFIX = "backprop:";
const AGAIN = 3000; // ms until values that could not be stored are tried again

const LOST = "is lost when you leave. Save your work as a notebook";
export const FULL = `This browser's storage is full: what you type here ${LOST}, and Reset answers that you no longer need.`;
const REFUSED = `This browser stores nothing for this page: what you type here ${LOST}.`;
const TOO_LONG = `A page keeps answers of up to ${MOST.answer / 1000} kB: what you type here ${LOST}, or make it shorter.`;
const ASIDE = `This browser has stored more for this answer than the ${MOST.answer / 1000} kB that a page keeps: it is set aside.`;
export const SET_ASIDE = `${ASIDE} Reset deletes it.`;
const TAKEN = `${ASIDE} What you type here ${LOST}, or Reset: it deletes what is set aside, and Undo brings back what you typed.`;

const listeners = new Set();
const unkept = new Map(); // by key: { value, why } of values that could not be stored, while the page is open
let waiting;

const isText = (key) => /^(?:draft|again|before\d?):(?!own:)/.test(key);
const stored = (key) => { try { return localStorage.getItem(PREFIX + key); } catch { return null; } };
// A page has several bundles, each with this module: what one writes, the others hear by an event of the document.
const STORED = "backprop:stored";
const by = {}; // this bundle
const tell = (key, value, elsewhere = false) => listeners.forEach((to) => to(key, value, elsewhere));
function tellAll(key, value) {
  tell(key, value);
  document.dispatchEvent(new CustomEvent(STORED, { detail: { key, value, by } }));
}
document.addEventListener(STORED, ({ detail }) => detail.by !== by && tell(detail.key, detail.value));

export function read(key) {
  return unkept.has(key) ? unkept.get(key).value : setAside(key) ? null : stored(key);
}

// Whether a stored text is too long for our pages to have written it: it is not used, and stays until Reset.
export const taken = (key) => isText(key) && stored(key)?.length > MOST.answer;
export const setAside = (key) => !unkept.has(key) && taken(key);
export function deleteAside(key) {
  if (taken(key)) localStorage.removeItem(PREFIX + key);
}

// All keys of our pages, also of values that are kept only while the page is open.
export function keys() {
  let found = [];
  try { found = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)); } catch { /* no storage */ }
  return [...new Set([...found, ...unkept.keys()])].filter((key) => read(key) !== null).sort();
}

// Store a value. Returns why it could not be stored, or "".
function stores(key, value) {
  if (isText(key) && value?.length > MOST.answer) return TOO_LONG;
  if (taken(key)) return value === null ? "" : TAKEN;
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
    return "";
  } catch (error) { return error.name === "QuotaExceededError" ? FULL : REFUSED; }
}

// Store a value, or keep it while the page is open. Returns why it could not be stored, or "".
export function write(key, value) {
  const why = stores(key, value);
  if (why) {
    unkept.set(key, { value, why });
    waiting ??= setInterval(again, AGAIN);
  } else {
    unkept.delete(key);
  }
  tellAll(key, value);
  if (!why) again(); // there may be room now for other values
  return why;
}

function again() {
  for (const [key, { value }] of [...unkept]) {
    if (stores(key, value)) continue;
    unkept.delete(key);
    tellAll(key, value);
  }
  if (unkept.size) return;
  clearInterval(waiting);
  waiting = undefined;
}

// Store all entries, or none if storage is full. Returns whether there was room.
export function writeAll(entries) {
  const all = entries.map(([key, value]) => ({ key, value, more: taken(key) ? 0 : size(key, value) - size(key, stored(key)) }));
  if (!roomFor(all.reduce((sum, { more }) => sum + more, 0))) return false;
  // values that shrink come first, so that storage never contains more than at the end
  for (const { key, value } of all.sort((one, other) => one.more - other.more)) stores(key, value);
  entries.forEach(([key, value]) => write(key, value));
  return true;
}
const size = (key, value) => (value === null ? 0 : PREFIX.length + key.length + value.length);
// Tests for room with a key of its own: two tabs can push storage over its limit, and then a removed draft cannot be restored.
function roomFor(letters) {
  const why = stores("room", "x".repeat(Math.max(0, letters)));
  stores("room", null);
  return why !== FULL;
}

// Why the value of this key, or without a key of any, is not stored; "" if it is.
export const problem = (key) => (key === undefined ? [...unkept.values()][0]?.why : unkept.get(key)?.why) ?? "";

// `to(key, value, elsewhere)` is called for changes here and in other tabs (`elsewhere`).
export function listen(to) { listeners.add(to); }
function heard(key, value) {
  const own = /^draft:/.test(key) ? unkept.get(key)?.value ?? null : null;
  if (own !== null && own !== value) { // another tab has stored a newer text, so keep this tab's for Undo
    unkept.delete(key);
    replacing(key, value, own).slice(1).forEach(([one, text]) => write(one, text));
  }
  if (unkept.size) again();
  tell(key, value, true);
}
addEventListener("storage", ({ key, newValue }) => {
  if (key?.startsWith(PREFIX)) heard(key.slice(PREFIX.length), newValue);
  else if (unkept.size) again();
});

// In the back/forward cache a page gets no storage events, so it compares the storage when it returns.
const all = () => { try { return new Map(Object.entries(localStorage).filter(([key]) => key.startsWith(PREFIX))); } catch { return new Map(); } };
let left;
addEventListener("pagehide", () => (left = all()));
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted || !left) return;
  const now = all();
  for (const key of new Set([...left.keys(), ...now.keys()]))
    if (left.get(key) !== now.get(key)) heard(key.slice(PREFIX.length), now.get(key) ?? null);
});

export const draftKey = (cell) => `draft:${cell}`;
// A solved answer that is written again (again.js) lies under another key until it is passed again: it is what is saved.
export const againKey = (key) => key.replace(/^draft:/, "again:");
export const toSave = (key) => read(againKey(key)) ?? read(key);

// The last texts that Reset, Load or Undo replaced, newest first.
export const formerKeys = (key) => ["before", "before2", "before3"].map((kind) => `${kind}:${key.replace(/^draft:/, "")}`);
export const formers = (key) => formerKeys(key).map(read).filter((text) => ![null, read(key)].includes(text));
const setFormers = (key, texts) => formerKeys(key).map((one, at) => [one, texts[at] ?? null]);
// The entries to write in order to replace `now`, and `also`, by `next`.
export function replacing(key, next, now = read(key), also = null) {
  const before = [...new Set([now, also, ...formers(key)])].filter((text) => ![null, next].includes(text));
  return [[key, next], ...setFormers(key, before)];
}
// The same for a text from a file. It ends writing an answer again, so Undo brings back the solved one, too.
export function loading(key, next) {
  const again = againKey(key);
  return again === key ? replacing(key, next) : [...replacing(key, next, read(key), read(again)), [again, null]];
}
// The same for Undo, which moves the replaced text behind all others, so that pressing it again goes through all of them.
export function undoing(key, now = read(key)) {
  const [next, ...older] = formers(key);
  return [[key, next], ...setFormers(key, now === null ? older : [...older, now])];
}

export const resultKey = (lesson, exercise) => `result:${lesson}/${exercise}`;

// Other pages of the origin can write to the storage too, so values read from it are validated.
export function parsed(key) {
  try { return JSON.parse(read(key)); } catch { return null; }
}
const points = (value) => (Number.isFinite(value) ? Math.min(Math.max(value, 0), 1000) : 0);
export function result(lesson, exercise) {
  const found = parsed(resultKey(lesson, exercise));
  if (!STATUSES.includes(found?.status)) return null;
  const { status, best, of, misconception, hints, hinted, shown, loaded } = found;
  return {
    status, points: points(found.points), of: points(of), best: points(best), hints: Math.min(MOST.hints, Math.floor(points(hints))), loaded: loaded === true,
    hinted: hinted === true, shown: shown === true, // all hints were opened; the solution was shown before a pass
    misconception: typeof misconception === "string" ? misconception.slice(0, MOST.name) : null,
  };
}

// Cells of a loaded notebook that are not the lesson's: [{ before, source }]; null if the stored value is invalid.
export const ownCellsKey = (lesson) => `own:${lesson}`;
const isOwn = (one) => typeof one?.before === "string" && typeof one.source === "string";
function cellsIn(key) {
  const text = read(key);
  if (text === null) return [];
  const found = text.length <= MOST.own ? parsed(key) : null;
  return Array.isArray(found) && found.length <= MOST.cells && found.every(isOwn) ? found : null;
}
export const ownCells = (lesson) => cellsIn(ownCellsKey(lesson)) ?? [];

// A chapter's keys with invalid stored values, each with its name in words.
export function unreadable(lesson, exercises) {
  const results = exercises.filter((name) => read(resultKey(lesson, name)) !== null && !result(lesson, name));
  const own = cellsIn(ownCellsKey(lesson)) ? [] : [[ownCellsKey(lesson), "cells of your own"]];
  return [...own, ...results.map((name) => [resultKey(lesson, name), `the result of ${name}`])];
}
