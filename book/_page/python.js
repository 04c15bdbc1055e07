// The page's Python: one working worker and one warm spare, so that Stop can simply terminate the first.
import { keep, keepMore } from "./offline.js";
import { Interpreter } from "./interpreter.js";
import { Failed, files, HERE, NO_NETWORK } from "./parts.js";

const MIB = 2 ** 20;
const SMALL = MIB / 2; // bytes of which megabytes give no idea
const STARTING = { text: "Starting Python", share: null };
const SPARE_AFTER = 1500; // ms without work before the spare is made, so that no reader waits for it

export { NO_NETWORK };
export class Stopped extends Error {}

const WHOLE = 300; // seconds for a whole check; each step has its own limit

let current, spare, resting, working = false;
let age = 0; // how often Load, Reset, Undo or another tab has replaced a text
const outdated = (one) => one.age !== undefined && one.age !== age; // it has run texts from before such a change

function roomForASpare() {
  return (navigator.deviceMemory ?? 8) >= 4; // browsers that do not tell are mostly on desktops
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

// Fetch the answer books of a lesson's other exercises when the reader is idle, and what looks for repairs, so that all are
// available offline.
const whole = new Set();
function keepTheRestLater(parts) {
  setTimeout(async () => {
    const { sizes } = await files();
    for (const lesson of parts.filter((part) => !whole.has(part))) {
      whole.add(lesson);
      const rest = Object.keys(sizes).filter((part) => part.startsWith(`${lesson}/`)).map((part) => `${part}.book`);
      if (rest.length) keepMore([...rest, "repairs.tar.bz2"].map((file) => new URL(file, HERE).href));
    }
  }, SPARE_AFTER);
}

function inWords({ say, loaded, total }) {
  if (say) return { text: say };
  if (loaded >= total) return STARTING;
  if (total < SMALL) return { text: "Getting what this check needs" }; // "0 of 0 MB" says nothing
  const share = `${(loaded / MIB).toFixed(0)} of ${(total / MIB).toFixed(0)} MB`;
  return { text: `Getting Python: ${share}`, share: loaded / total };
}

// What is said while parts are prepared: nobody knows which share of the wait is over.
const starting = (message) => ({ share: null, ...inWords(message) });

// Queue work for Python: `work(taken, ask, ready)` gets the texts that `take` has read once Python was ready, a function
// that asks the interpreter, and one that prepares more parts (and tells another listener of its progress, if given one). No
// interpreter gets texts of two ages. `line` shows progress and `out` gets output. The interpreter is stopped after `seconds`
// without news, or after max(WHOLE, seconds) in all.
let queue = Promise.resolve();
let waiting = 0; // how much work is queued behind what runs
export function withPython(parts, take, work, { line, out = () => {}, seconds = 60 } = {}) {
  waiting += 1;
  if (givingWay) stop();
  const before = warming;
  line.begin();
  if (working) line.show({ text: "Waits for what else runs on this page", share: null });
  if (before) {
    before.hear = (message) => line.show(starting(message));
    line.show(before.last ? starting(before.last) : STARTING); // it may be long until the next message
  }
  const turn = queue.then(() => {
    waiting -= 1;
    if (before?.stopped) {
      line.done();
      throw before.stopped;
    }
    return inTurn(parts, take, work, line, out, seconds);
  });
  queue = turn.catch(() => {});
  return turn;
}

// Whether what runs now is stopped as soon as other work waits, as a reader can do without it. Throws `Stopped` if some does.
let givingWay = false;
export function giveWay(is) {
  if (is && waiting) throw new Stopped();
  givingWay = is;
}

// Fetch and start the first Python while a reader writes, so that the first check need not wait for it.
let warming;
export function warm(parts) {
  if (warming || working || current || navigator.connection?.saveData) return;
  const one = (warming = { hear() {} });
  queue = queue.then(async () => {
    const mine = (current ??= new Interpreter());
    try {
      await keep();
      await mine.prepare(parts, (message) => one.hear((one.last = message)));
    } catch {
      drop(mine); // the next check tries again, and says why
    } finally {
      warming = undefined;
    }
  });
}

async function inTurn(parts, take, work, line, out, seconds) {
  clearTimeout(resting);
  working = true;
  let mine, clock, end;
  let at = ""; // the last progress message
  const wait = () => {
    clearTimeout(clock);
    line.begin(seconds < 120 ? `${seconds} s` : `${seconds / 60} min`);
    clock = setTimeout(() => endless(seconds), seconds * 1000);
  };
  const endless = (after) => stop(`Stopped after ${after} seconds: is there a loop that does not end?${at && ` It was at ${at}`}`);
  const hear = (message) => {
    if ("out" in message) return out(message.out);
    line.show(clock ? inWords(message) : starting(message));
    if (clock && message.say) (at = message.say), wait(); // progress: restart the limit for the step
  };
  try {
    line.show(current?.parts.size ? { text: "Running" } : STARTING);
    await keep(); // before fetching, so that the service worker caches the first fetch
    const ready = (more, heard = hear) => mine.prepare(more, heard);
    let taken, takenAt;
    do {
      if (current && outdated(current)) drop(current);
      mine = current ??= new Interpreter();
      await ready(parts);
      takenAt = age;
      taken = await take();
    } while (takenAt !== age || outdated(mine)); // a text was replaced meanwhile, by Undo or Load
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

// Record that a text was replaced. The old one may have run and changed its Python, so the next run gets a new Python; one
// that has run no text yet is kept.
export function afresh() {
  age += 1;
  if (!working && current && outdated(current)) drop(current);
  listeners.forEach((to) => to());
}
const listeners = new Set();
export const whenReplaced = (to) => listeners.add(to);
export const ageOfTexts = () => age;

// Discard the current Python after this run: it gets code from a loaded file that this page does not list.
export function spoiled() {
  if (working && current) current.age = -1;
}

export function stop(why = "Stopped.") {
  const one = current;
  if (warming) warming.stopped = new Stopped(why);
  if (!one || !(working || warming)) return;
  one.end(new Stopped(why));
  drop(one);
}

// The course's solutions of a lesson: { module, exercises: { name: { text, why } } }; null if this copy has none. Throws
// `Failed` if they cannot be fetched, and tries again when asked again.
const NO_SOLUTION = "The solution could not be fetched: is there a network?";
const solutions = {};
export const solution = (slug) =>
  (solutions[slug] ??= files().then(async ({ solved }) => {
    if (!solved.includes(slug)) return null;
    const answer = await fetch(new URL(`${slug}.solved.json`, HERE));
    if (!answer.ok) throw new Failed(NO_SOLUTION);
    return await answer.json();
  }).catch((error) => {
    if (error.missing) return null;
    delete solutions[slug];
    throw new Failed(NO_SOLUTION);
  }));

// Whether one of these lessons has an exercise that needs the archive of digits.
export const needData = async (slugs) => (await files()).data.some((part) => slugs.includes(part.split("/")[0]));

export const lessonNotebook = async (slug) => {
  await files();
  const answer = await fetch(new URL(`${slug}.json`, HERE)).catch(() => { throw new Failed(NO_NETWORK); });
  if (!answer.ok) throw new Failed(`The notebook of ${slug} is not part of this copy of the book.`);
  return answer.json();
};
