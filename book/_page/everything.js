// "Save everything" and "Load everything": one file with all of a reader's progress in this book.
import { dueKey, dueOf } from "../_reader/dues.js";
import { element } from "../_reader/element.js";
import { chosenIn, noteIn, noteKey, packed, placeKey, quizKey, sectionIn, sectionKey, seenIn } from "../_reader/kept.js";
import { chapters, shortOf } from "./course.js";
import { loadedKey, withLoaded } from "./loaded.js";
import { chooser, loadPlanned, saveFile } from "./loading.js";
import { afresh } from "./python.js";
import { lastWorked, LAST } from "./route.js";
import { draftKey, ownCells, ownCellsKey, read, replacing, result, resultKey, taken, writeAll } from "./store.js";
import { asText, contentOf, everything, idsOf, textsOf, understoodFile } from "./whole.js";

const LARGEST = 8_000_000; // bytes

const pageOf = (cell) => chapters.find(({ slug }) => shortOf(slug) === cell.split("-")[0])?.slug;
const named = (key) => key.replace(/^draft:/, "").replace(/^(ch\d\d)-/, "$1/").replace(/^scratch\/(ch\d\d)_\w+\//, "scratch cell of $1/").replace(/^(.+)\/(\d+)$/, "code of $1");

export function saveEverything() {
  const found = everything(pageOf);
  const name = `backprop-${found.saved.slice(0, 10)}.json`;
  saveFile(name, asText(found), "application/json");
  return `Saved ${name} among your downloads: ${contentOf(found)}.`;
}

async function planOf(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than a file of progress: ${Math.round(file.size / 1e6)} MB.`);
  let value;
  try { value = JSON.parse(await file.text()); } catch { value = null; }
  const found = understoodFile(value, file.name);
  const texts = textsOf(found);
  const aside = texts.find(([key]) => taken(key));
  if (aside) throw new Error(`${file.name}: this browser has set aside a text of ${named(aside[0])} that is too long for a page. Nothing was loaded: Reset it first, which deletes that text.`);
  const differs = ([key, text]) => ![null, text].includes(read(key));
  const cells = [...found.pages].filter(([, { own }]) => own.length).map(([name, { own }]) => [name, JSON.stringify(own)]);
  const ownDiffer = ([name, own]) => ownCells(name).length > 0 && JSON.stringify(ownCells(name)) !== own;
  const conflicts = () => [...texts.filter(differs).map(([key]) => named(key)), ...cells.filter(ownDiffer).map(([name]) => `cells of your own in ${shortOf(name)}`)];
  return {
    words: `${file.name} has ${contentOf(found)}.`,
    conflicts: conflicts(),
    commit(keep) {
      const replaced = conflicts();
      const taking = texts.filter((one) => !keep || !differs(one)).filter(([key, text]) => read(key) !== text);
      const taken = new Set(taking.map(([key]) => key));
      const entries = taking.flatMap(([key, text]) => replacing(key, text));
      for (const [name, own] of cells) if (!keep || !ownDiffer([name, own])) entries.push(...replacing(ownCellsKey(name), own));
      for (const [name, page] of found.pages) entries.push(...beside(name, page, keep, taken));
      if (found.last && (!keep || !lastWorked())) entries.push([LAST, JSON.stringify(found.last)]);
      if (!writeAll(entries)) throw new Error(`This browser's storage has no room for ${file.name}. Nothing was loaded: Reset answers that you no longer need.`);
      afresh(); // code that ran earlier must not judge the loaded answers
      const kept = keep && replaced.length ? ` Kept ${replaced.length} of yours.` : "";
      const undo = !keep && replaced.length ? " Undo, at each exercise, brings back what it replaced." : "";
      return `Loaded ${file.name}: ${contentOf(found)}.${kept}${undo} Points of the file count until a check here: “Check all” in a chapter checks its answers.`;
    },
  };
}

// The entries for a page's results, choices and places, and for remembering which texts came from the file.
function beside(name, page, keep, taken) {
  const { notes, results, choices, due, read: parts, section } = page;
  const entries = [];
  const loaded = idsOf(name, page).filter(([id]) => taken.has(draftKey(id)));
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

// The two buttons, and the place where they say what they did.
export function everythingTools(words = "") {
  const said = element("span", { role: "status", class: "page-quiet" });
  const place = element("div");
  const tell = async (work) => {
    said.textContent = "";
    try { said.textContent = (await work()) ?? ""; } catch (error) { said.textContent = error.message; }
  };
  const save = element("button", { type: "button", class: "page-button page-quiet", onclick: () => tell(saveEverything) }, "Save everything");
  const load = chooser("Load everything", ".json,application/json", async (file) => loadPlanned(place, await planOf(file)), tell);
  return [element("p", { class: "page-everything" }, words, save, " ", ...load, " ", said), place];
}
