// When quizzes, predictions and passed exercises come back: { due, log }, with the time of the next repetition and the reader's
// former ones, [time, grade]. The page "Due today" (due.js) computes the times; all others only note first answers.
import { keep } from "./kept.js";
import { keys, parsed, result } from "../_page/store.js";

export const DAY = 86_400_000; // ms
export const MOST_LOG = 100;
const LATEST = 1e14;
export const dueKey = (page, id) => `due:${page}/${id}`;
const isTime = (value) => Number.isFinite(value) && value >= 0 && value <= LATEST;
const isEntry = (one) => Array.isArray(one) && one.length === 2 && isTime(one[0]) && [1, 2, 3, 4].includes(one[1]);
export const isDue = (found) => isTime(found?.due) && Array.isArray(found.log) && found.log.length <= MOST_LOG && found.log.every(isEntry);

export function dueOf(page, id) {
  const found = parsed(dueKey(page, id));
  return isDue(found) ? { due: found.due, log: found.log } : null;
}

// Note a first answer, which comes back the next day.
export function noteAnswer(page, id, good, now = Date.now()) {
  if (!dueOf(page, id)) keep(dueKey(page, id), { due: now + DAY, log: [[now, good ? 3 : 1]] });
}

// All that comes back, in order: { page, id, due, log }. What was answered before answers were noted is due now.
export function comingBack(now = Date.now()) {
  const found = new Map();
  for (const key of keys()) {
    const [, kind, page, id] = /^(due|quiz|result):([\w-]{1,100})\/([\w.-]{1,100})$/.exec(key) ?? [];
    if (!kind) continue;
    const { best, of } = (kind === "result" && result(page, id)) || {};
    if (kind === "result" && !(of > 0 && best >= of)) continue;
    const known = dueOf(page, id);
    if (kind !== "due" || known) found.set(`${page}/${id}`, { page, id, ...(known ?? { due: now, log: [] }) });
  }
  return [...found.values()].sort((one, other) => one.due - other.due);
}
export const dueNow = (now = Date.now()) => comingBack(now).filter(({ due }) => due <= now);
