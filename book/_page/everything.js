// What "Save everything" and "Load everything" do: one file with all of a reader's progress in this book. Fetched on a click.
import { dueKey, dueOf } from "../_reader/dues.js";
import { chosenIn, noteIn, noteKey, packed, placeKey, quizKey, sectionIn, sectionKey, seenIn } from "../_reader/kept.js";
import { chapterOf, chapters, shortOf } from "./course.js";
import { MOST } from "./limits.js";
import { loadedKey, withLoaded } from "./loaded.js";
import { saveFile } from "./loading.js";
import { HERE } from "./parts.js";
import { afresh } from "./python.js";
import { lastWorked, LAST } from "./route.js";
import { draftKey, loading, ownCells, ownCellsKey, read, replacing, result, resultKey, taken, toSave, writeAll } from "./store.js";
import { asText, contentOf, everything, idsOf, lettersIn, textsOf, understoodFile } from "./whole.js";

// CELLS: by chapter, the cells of its notebook's exercises, [id, exercise], as the build has written them.
const LARGEST = 8_000_000; // bytes

const pageOf = (cell) => chapters.find(({ slug }) => shortOf(slug) === cell.split("-")[0])?.slug;
const named = (key) => key.replace(/^draft:/, "").replace(/^(ch\d\d)-/, "$1/").replace(/^scratch\/(ch\d\d)_\w+\//, "scratch cell of $1/").replace(/^(.+)\/(\d+)$/, "code of $1");

export function saveEverything() {
  const found = everything(pageOf);
  const name = `backprop-${found.saved.slice(0, 10)}.json`;
  const text = asText(found);
  try {
    understoodFile(JSON.parse(text), name);
  } catch {
    throw new Error(lettersIn(found) > MOST.everything
      ? `Your answers have ${Math.ceil(lettersIn(found) / 1000).toLocaleString("en")} kB together, and a file has room for ${MOST.everything / 1000} kB. Nothing was saved: Reset answers that you no longer need, or press “Save my work” in each chapter.`
      : "This browser has stored what no page of this course writes, and no page would load such a file. Nothing was saved: press “Save my work” in each chapter.");
  }
  saveFile(name, text, "application/json");
  return `Saved ${name} among your downloads: ${contentOf(found)}.`;
}

// How many code cells a page has; any number if that cannot be fetched.
async function cellsIn(page) {
  try {
    const answer = await fetch(new URL(`${page}.cells.json`, HERE));
    return answer.ok ? (await answer.json()).cells.length : 0;
  } catch { return Infinity; }
}

// The ids of questions and predictions, by page; null if they cannot be fetched.
async function questions() {
  try {
    const answer = await fetch(new URL("questions.json", HERE));
    return answer.ok ? await answer.json() : null;
  } catch { return null; }
}
const questionsIn = (all, page) => all && new Set(Object.hasOwn(all, page) ? all[page] : []);

// Leave out what no page of this book could show or Reset. Returns the rest, and how many entries were left out.
async function ofThisBook(found) {
  let left = 0, all;
  const only = (map, is) => new Map([...map].filter(([name]) => is(name) || ((left += 1), false)));
  const pages = new Map();
  for (const [name, page] of found.pages) {
    const chapter = chapterOf(name) ?? (name === "index" ? { exercises: [] } : null);
    if (!chapter) {
      left += idsOf(name, page).length + page.own.length + page.results.size + page.notes.size + page.choices.size + page.due.size;
      continue;
    }
    const cells = new Map(Object.hasOwn(CELLS, name) ? CELLS[name] : []), exercises = new Set(cells.values()), here = new Set(chapter.exercises.map(([one]) => one));
    const most = page.code.size ? await cellsIn(name) : 0;
    const asked = page.choices.size || page.due.size ? questionsIn(await (all ??= questions()), name) : null;
    const [choices, due] = [page.choices, page.due].map((map) => only(map, (id) => !asked || asked.has(id) || (map === page.due && exercises.has(id))));
    const [answers, code] = [only(page.answers, (id) => cells.has(id)), only(page.code, (at) => Number(at) < most)];
    const [results, notes] = [page.results, page.notes].map((map) => only(map, (one) => exercises.has(one)));
    pages.set(name, { ...page, answers, code, results, notes, choices, due, scratch: only(page.scratch, (one) => here.has(one)) });
  }
  return { found: { ...found, pages }, left };
}

export async function planOf(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than a file of progress: ${Math.round(file.size / 1e6)} MB.`);
  let value;
  try { value = JSON.parse(await file.text()); } catch { value = null; }
  const { found, left } = await ofThisBook(understoodFile(value, file.name));
  if (left && !found.pages.size) throw new Error(`${file.name} has nothing of this book's pages. Nothing was loaded.`);
  const texts = textsOf(found);
  const aside = texts.find(([key]) => taken(key));
  if (aside) throw new Error(`${file.name}: this browser has set aside a text of ${named(aside[0])} that is too long for a page. Nothing was loaded: Reset it first, which deletes that text.`);
  const differs = ([key, text]) => ![null, text].includes(toSave(key));
  const cells = [...found.pages].filter(([, { own }]) => own.length).map(([name, { own }]) => [name, JSON.stringify(own)]);
  const ownDiffer = ([name, own]) => ownCells(name).length > 0 && JSON.stringify(ownCells(name)) !== own;
  const conflicts = () => [...texts.filter(differs).map(([key]) => named(key)), ...cells.filter(ownDiffer).map(([name]) => `cells of your own in ${shortOf(name)}`)];
  return {
    words: `${file.name} has ${contentOf(found)}.`,
    conflicts: conflicts(),
    commit(keep) {
      const replaced = conflicts();
      const taking = texts.filter((one) => !keep || !differs(one)).filter(([key, text]) => read(key) !== text);
      const ids = new Set(taking.map(([key]) => key));
      const entries = taking.flatMap(([key, text]) => loading(key, text));
      for (const [name, own] of cells) if (!keep || !ownDiffer([name, own])) entries.push(...replacing(ownCellsKey(name), own));
      for (const [name, page] of found.pages) entries.push(...beside(name, page, keep, ids));
      if (found.last && (!keep || !lastWorked())) entries.push([LAST, JSON.stringify(found.last)]);
      if (!writeAll(entries)) throw new Error(`This browser's storage has no room for ${file.name}. Nothing was loaded: Reset answers that you no longer need.`);
      afresh(); // code that ran earlier must not judge the loaded answers
      const out = left ? ` Left out ${left} ${left === 1 ? "entry" : "entries"} of cells, questions and pages that this book does not have.` : "";
      const kept = keep && replaced.length ? ` Kept ${replaced.length} of yours.` : "";
      const undo = !keep && replaced.length ? " Undo, at each exercise, brings back what it replaced." : "";
      return `Loaded ${file.name}: ${contentOf(found)}.${out}${kept}${undo} Points from the file count until you check the answers here: press “Check all” in each chapter.`;
    },
  };
}

// The entries for a page's results, choices and places, and for remembering which texts came from the file.
function beside(name, page, keep, ids) {
  const { notes, results, choices, due, read: parts, section } = page;
  const entries = [];
  const loaded = idsOf(name, page).filter(([id]) => ids.has(draftKey(id)));
  if (loaded.length) entries.push([loadedKey(name), withLoaded(name, loaded)]);
  for (const [exercise, theirs] of results) {
    const mine = result(name, exercise);
    if (!mine || (!keep && theirs.best >= mine.best)) entries.push([resultKey(name, exercise), JSON.stringify({ ...theirs, loaded: true })]);
  }
  for (const [exercise, theirs] of notes) if (!noteIn(`${name}/${exercise}`)) entries.push([noteKey(`${name}/${exercise}`), theirs]);
  for (const [id, theirs] of choices) if (!chosenIn(name, id)) entries.push([quizKey(name, id), JSON.stringify(theirs)]);
  for (const [id, theirs] of due) if ((dueOf(name, id)?.log.length ?? 0) < theirs.log.length) entries.push([dueKey(name, id), JSON.stringify({ due: theirs.due, log: theirs.log })]);
  if (parts) entries.push([placeKey(name), JSON.stringify(packed([...seenIn(name), ...seenIn(name, parts)]))]);
  if (section && (!keep || !sectionIn(name))) entries.push([sectionKey(name), JSON.stringify(section)]);
  return entries;
}
