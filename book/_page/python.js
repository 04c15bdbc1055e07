// The page's Python: one worker that works, and a spare one that is warm, so that Stop is ending the first.
import { keep, keepMore } from "./offline.js";
import { Interpreter } from "./interpreter.js";
import { Failed, files, HERE, NO_NETWORK } from "./parts.js";

const MIB = 2 ** 20;
const SPARE_AFTER = 1500; // ms of rest before the spare is made: not while a reader waits

export { NO_NETWORK };
export class Stopped extends Error {}

const WHOLE = 300; // seconds for all steps of a check, of which each has its time

let current, spare, resting, working = false;
let age = 0; // how often a text has taken the place of another
const outdated = (one) => one.age !== undefined && one.age !== age; // it was given a text of another age

function roomForASpare() {
  return (navigator.deviceMemory ?? 8) >= 4; // browsers that do not say it are desktops' more often than not
}

function makeSpareLater() {
  clearTimeout(resting);
  if (spare || !roomForASpare()) return;
  resting = setTimeout(async () => {
    if (working || spare || !current) return;
    const next = new Interpreter();
    try {
      await next.prepare([...current.parts], () => {}, true);
      if (spare) next.end(new Stopped());
      else spare = next;
    } catch { next.end(new Stopped()); } // it is only a spare
  }, SPARE_AFTER);
}

// What the other exercises of a lesson compare with comes once a reader rests: then all of it is there offline.
const whole = new Set();
function keepTheRestLater(parts) {
  setTimeout(async () => {
    const { sizes } = await files();
    for (const lesson of parts.filter((part) => !whole.has(part))) {
      whole.add(lesson);
      const rest = Object.keys(sizes).filter((part) => part.startsWith(`${lesson}/`));
      if (rest.length) keepMore(rest.map((part) => new URL(`${part}.book`, HERE).href));
    }
  }, SPARE_AFTER);
}

function inWords({ say, loaded, total }) {
  if (say) return { text: say };
  if (loaded >= total) return { text: "Starting Python" };
  const share = `${(loaded / MIB).toFixed(0)} of ${(total / MIB).toFixed(0)} MB`;
  return { text: `Getting Python: ${share}`, share: loaded / total };
}

// Work for Python, one after the other: `work(taken, ask)` gets what `take` has read of the reader's texts when Python was
// ready for them, and a function that asks the interpreter: no text goes to a Python that had one of another age.
// `line` is told what goes on, `out` what is printed; `seconds` without news end it, and WHOLE seconds end it in any case.
let queue = Promise.resolve();
export function withPython(parts, take, work, { line, out = () => {}, seconds = 60 } = {}) {
  if (working) line.show({ text: "Waits for what else runs in this page" });
  const turn = queue.then(() => inTurn(parts, take, work, line, out, seconds));
  queue = turn.catch(() => {});
  return turn;
}

async function inTurn(parts, take, work, line, out, seconds) {
  clearTimeout(resting);
  working = true;
  let mine, clock, end;
  let at = ""; // what was said last
  const wait = () => {
    clearTimeout(clock);
    line.begin(seconds < 120 ? `${seconds} s` : `${seconds / 60} min`);
    clock = setTimeout(() => endless(seconds), seconds * 1000);
  };
  const endless = (after) => stop(`Stopped after ${after} seconds: is there a loop that does not end?${at && ` It was at ${at}`}`);
  const hear = (message) => {
    if ("out" in message) return out(message.out);
    line.show(inWords(message));
    if (clock && message.say) (at = message.say), wait(); // it goes on: each step has its time
  };
  try {
    line.show({ text: current?.parts.size ? "Running" : "Starting Python" });
    await keep(); // before anything is fetched, so that it is fetched once
    const ready = (more) => mine.prepare(more, hear);
    let taken, takenAt;
    do {
      if (current && outdated(current)) drop(current);
      mine = current ??= new Interpreter();
      await ready(parts);
      takenAt = age;
      taken = await take();
    } while (takenAt !== age || outdated(mine)); // Undo was pressed meanwhile, or Load
    mine.age = age;
    wait();
    const most = Math.max(seconds, WHOLE);
    end = setTimeout(() => endless(most), most * 1000);
    const found = await work(taken, (message) => mine.ask(message, hear), ready);
    keepTheRestLater(parts);
    return found;
  } catch (error) {
    if (error.fatal && mine) drop(mine);
    throw error;
  } finally {
    if (mine && outdated(mine)) drop(mine);
    clearTimeout(clock);
    clearTimeout(end);
    line.done();
    working = false;
    makeSpareLater();
  }
}

function drop(one) {
  one.end(new Stopped());
  if (current === one) { current = spare; spare = undefined; }
}

// Another text takes the place of one that may have run, and who wrote that may have changed the Python that it ran in:
// what runs next gets another one. A Python that was given no text yet is kept.
export function afresh() {
  age += 1;
  if (!working && current && outdated(current)) drop(current);
  told.forEach((to) => to());
}
const told = new Set();
export const whenReplaced = (to) => told.add(to);
export const ageOfTexts = () => age;

export function stop(why = "Stopped.") {
  const one = current;
  if (!one || !working) return;
  one.end(new Stopped(why));
  drop(one);
}

// The course's own answers to a lesson: { module, exercises: { name: { text, why } } }; null where this copy has none.
const solutions = {};
export const solution = (slug) =>
  (solutions[slug] ??= files().then(async ({ solved }) => {
    const answer = solved.includes(slug) ? await fetch(new URL(`${slug}.solved.json`, HERE)) : { ok: false };
    return answer.ok ? answer.json() : null;
  }).catch(() => null));

// Whether Python needs the digits for one of these lessons.
export const needData = async (slugs) => (await files()).data.some((slug) => slugs.includes(slug));

export const lessonNotebook = async (slug) => {
  await files();
  const answer = await fetch(new URL(`${slug}.json`, HERE)).catch(() => { throw new Failed(NO_NETWORK); });
  if (!answer.ok) throw new Failed(`The notebook of ${slug} is not part of this copy of the book.`);
  return answer.json();
};
