// All of a reader's progress as one value, for a file: answers, edited code and own cells, derivations, results,
// choices, and places.
// `backprop save` and `backprop load` write and read the same file (autograder/learning/whole.py).
import { MOST_NOTE, PARTS, chosenIn, noteIn, packed, placeIn, sectionIn, seenIn } from "../_reader/kept.js";
import { dueOf, isDue } from "../_reader/dues.js";
import { byName, list, matching, number, oneOf, or, record, text, that, whether, whole } from "./bounds.js";
import { MOST } from "./limits.js";
import { lastWorked } from "./route.js";
import { STATUSES } from "./statuses.js";
import { draftKey, keys, ownCells, read, result, toSave } from "./store.js";

export const FORMAT = "backprop-progress";
const VERSION = 1;
const NAME = /^[\w.-]{1,100}$/;
const DIGITS = new RegExp(`^[\\da-f]{${PARTS / 4}}$`);

const ofAResult = record({
  status: oneOf(STATUSES), points: number(0, 1000), of: number(0, 1000), best: number(0, 1000),
  hints: or(0, whole(0, MOST.hints)), hinted: or(false, whether), shown: or(false, whether), misconception: or(null, text(MOST.name)),
});
const ofAPage = record({
  answers: or(new Map(), byName(matching(NAME), text(MOST.answer), 200)),
  code: or(new Map(), byName(matching(/^\d{1,4}$/), text(MOST.answer), 500)),
  scratch: or(new Map(), byName(matching(NAME), text(MOST.answer), 200)),
  notes: or(new Map(), byName(matching(NAME), text(MOST_NOTE), 200)),
  own: or([], list(record({ before: text(200), source: text(MOST.own) }), MOST.cells)),
  results: or(new Map(), byName(matching(NAME), ofAResult, 200)),
  choices: or(new Map(), byName(matching(NAME), record({ first: whether, chosen: list(whole(0, 99), 100) }), 500)),
  due: or(new Map(), byName(matching(NAME), that(isDue), 700)),
  read: or("", matching(DIGITS)),
  section: or("", matching(NAME)),
});
const ofAFile = record({
  format: oneOf([FORMAT]), version: whole(1, 1000),
  last: or(null, record({ lesson: matching(NAME), exercise: matching(NAME) })),
  pages: byName(matching(NAME), ofAPage, 100),
});

// How many characters the texts of a file have.
export const lettersIn = ({ pages }) => [...pages.values()].reduce((sum, { answers, code, scratch, own }) =>
  sum + [...answers.values(), ...code.values(), ...scratch.values()].reduce((all, one) => all + one.length, 0) + JSON.stringify(own).length, 0);

// The content of a file, with maps by name; throws an Error in a reader's words.
export function understoodFile(value, name) {
  const no = `${name} is no file that “Save everything” has written`;
  if (value?.format !== FORMAT) throw new Error(`${name} is not a progress file: “Save everything” writes one.`);
  if (Number.isInteger(value.version) && value.version > VERSION) throw new Error(`${name} is of a newer edition of this book: its version is ${value.version}, and this page reads ${VERSION}. Nothing was loaded.`);
  let found;
  try { found = ofAFile(value); } catch { throw new Error(`${no}, or something has changed it. Nothing was loaded.`); }
  const letters = lettersIn(found);
  if (letters > MOST.everything) throw new Error(`${name} has ${Math.ceil(letters / 1000).toLocaleString("en")} kB of answers, and a browser keeps at most ${MOST.everything / 1000} kB. Nothing was loaded.`);
  if ([...found.pages.values()].some(({ own }) => JSON.stringify(own).length > MOST.own)) throw new Error(`${no}: its own cells are too long. Nothing was loaded.`);
  return found;
}

const SCRATCH = /^draft:scratch\/([\w.-]{1,100})\/([\w.-]{1,100})$/;
const familyOf = (key) => /^(draft|again|own|result|quiz|place|section|due|note):([^/]+?)(?:\/(.+))?$/.exec(key) ?? [];

// What this browser has stored, as the value of a file.
export function everything(pageOf) {
  const pages = new Map(); // maps, because a stored key may have a name such as __proto__
  const page = (name) => pages.get(name) ?? pages.set(name, { answers: new Map(), code: new Map(), scratch: new Map(), notes: new Map(), own: [], results: new Map(), choices: new Map(), due: new Map() }).get(name);
  for (const key of keys()) {
    const [, kind, name, rest] = familyOf(key);
    const [, lesson, exercise] = SCRATCH.exec(key) ?? [];
    if (exercise && read(key) !== null) page(lesson).scratch.set(exercise, read(key));
    if (!kind || !NAME.test(name) || (rest !== undefined && !NAME.test(rest))) continue;
    const draft = kind === "draft" ? read(key) : null;
    const answer = rest === undefined && ["draft", "again"].includes(kind) ? toSave(draftKey(name)) : null;
    if (answer !== null && pageOf(name)) page(pageOf(name)).answers.set(name, answer);
    if (draft !== null && /^\d{1,4}$/.test(rest)) page(name).code.set(rest, draft);
    if (kind === "own" && ownCells(name).length) page(name).own = ownCells(name).map(({ before, source }) => ({ before, source }));
    if (kind === "result" && rest && result(name, rest)) page(name).results.set(rest, result(name, rest));
    if (kind === "note" && rest && noteIn(`${name}/${rest}`)) page(name).notes.set(rest, noteIn(`${name}/${rest}`));
    if (kind === "quiz" && rest && chosenIn(name, rest)) page(name).choices.set(rest, chosenIn(name, rest));
    if (kind === "due" && rest && dueOf(name, rest)) page(name).due.set(rest, dueOf(name, rest));
    if (kind === "place" && placeIn(name)) page(name).read = packed([...seenIn(name)]);
    if (kind === "section" && sectionIn(name)) page(name).section = sectionIn(name);
  }
  const last = lastWorked();
  return { format: FORMAT, version: VERSION, saved: new Date().toISOString(), ...(last && { last }), pages };
}
export const asText = (found) => `${JSON.stringify(found, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value), 1)}\n`;

// Counts of what a file has, in words.
export function contentOf({ pages }) {
  const all = [...pages.values()];
  const sum = (of) => all.reduce((total, one) => total + of(one), 0);
  const counts = [
    [sum(({ answers }) => answers.size), "answer"], [sum(({ code }) => code.size), "edited cell"], [sum(({ scratch }) => scratch.size), "scratch cell"], [sum(({ own }) => own.length), "cell", " of your own"],
    [sum(({ results }) => results.size), "result"], [sum(({ choices }) => choices.size), "choice"],
  ].filter(([n]) => n).map(([n, what, more = ""]) => `${n} ${what}${n === 1 ? "" : "s"}${more}`);
  return `${counts.join(", ") || "no answers yet"}, of ${all.length} page${all.length === 1 ? "" : "s"}`;
}

// [id, text] of each text of a page that may replace one of the reader's, and [key, text] of all in a file.
export const idsOf = (name, { answers, code, scratch }) => [
  ...answers, ...[...code].map(([at, text]) => [`${name}/${at}`, text]), ...[...scratch].map(([exercise, text]) => [`scratch/${name}/${exercise}`, text]),
];
export const textsOf = ({ pages }) => [...pages].flatMap(([name, page]) => idsOf(name, page).map(([id, text]) => [draftKey(id), text]));
