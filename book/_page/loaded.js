// Remembers which answers came from a loaded file: hashes of their last texts by cell id. Such answers run with each check.
import { draftKey, parsed, read } from "./store.js";

const TEXTS = 4; // the current one, and those that Undo restores
const CELLS = 200;

export const loadedKey = (lesson) => `loaded:${lesson}`;

function hashOf(text) {
  let sum = 5381;
  for (let i = 0; i < text.length; i++) sum = (Math.imul(sum, 33) ^ text.charCodeAt(i)) >>> 0;
  return `${text.length}.${sum}`;
}

function known(lesson) {
  const found = Object.entries(parsed(loadedKey(lesson)) ?? {}).slice(0, CELLS);
  return found.filter(([, texts]) => Array.isArray(texts) && texts.every((one) => typeof one === "string"));
}

// The value to store when `answers` ([[id, text]]) are loaded.
export function withLoaded(lesson, answers) {
  const all = new Map(known(lesson));
  for (const [id, text] of answers) all.set(id, [...new Set([hashOf(text), ...(all.get(id) ?? [])])].slice(0, TEXTS));
  return JSON.stringify(Object.fromEntries(all));
}

// The keys of the answers that are unchanged since a file was loaded.
export const asLoaded = (lesson) =>
  known(lesson).map(([id, texts]) => [draftKey(id), texts]).filter(([key, texts]) => texts.includes(hashOf(read(key) ?? ""))).map(([key]) => key);
