// Fills a lesson's notebook with a page's texts, saves it, and loads one.
import { counted } from "../_reader/words.js";
import { MOST } from "./limits.js";
import { loadedKey, withLoaded } from "./loaded.js";
import { saveFile } from "./loading.js";
import { afresh, lessonNotebook } from "./python.js";
import { draftKey, loading, ownCells, ownCellsKey, read, taken, toSave, writeAll } from "./store.js";

const LARGEST = 20_000_000; // bytes of a notebook
// Ends lines with \n alone, as the editor does; otherwise opening the editor would make a loaded answer look edited.
const joined = (source) => (Array.isArray(source) ? source.join("") : String(source ?? "")).replace(/\r\n?/g, "\n");
const isText = (one) => typeof one === "string";
const isCell = (one) => isText(one?.cell_type) && (isText(one.source) || (Array.isArray(one.source) && one.source.every(isText)));
const solvable = (cell) => cell.cell_type === "code" && isText(cell.metadata?.exercise) && cell.metadata.exercise !== "";
// A cell's exercise and part, from its metadata, which identify it in notebooks that were edited elsewhere.
const nameOf = ({ metadata: { exercise, part } }) => `${exercise}/${isText(part) || Number.isInteger(part) ? part : ""}`;

// `answer`: reads an exercise's text, or null.
export async function filled(slug, answer = read) {
  const notebook = await lessonNotebook(slug);
  for (const cell of notebook.cells) {
    const draft = solvable(cell) ? answer(draftKey(cell.id)) : null;
    if (draft !== null) cell.source = draft;
  }
  for (const { before, source } of ownCells(slug)) {
    const at = notebook.cells.findIndex((cell) => solvable(cell) && nameOf(cell) === before);
    const cell = { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source };
    notebook.cells.splice(at < 0 ? notebook.cells.length : at, 0, cell);
  }
  return notebook;
}

// Save the notebook. Returns what it has, in words.
export async function save(slug) {
  const notebook = await filled(slug, toSave);
  saveFile(`${slug}.ipynb`, JSON.stringify(notebook, null, 1) + "\n", "application/x-ipynb+json");
  const answers = new Set(notebook.cells.filter((cell) => solvable(cell) && toSave(draftKey(cell.id)) !== null).map((cell) => cell.metadata.exercise)).size;
  const own = ownCells(slug).length;
  return `Saved ${slug}.ipynb among your downloads, with ${counted(answers, "answer")} of yours${own ? ` and ${counted(own, "cell")} of your own` : ""}.`;
}

// Split a notebook into the text of each exercise's cell (joined, if an editor has split it) and added or changed code cells
// (helpers, imports), each with the exercise's cell that follows it. A cell between the pieces of an answer becomes part of
// the answer, because the grader runs cells in order.
function inParts(theirs, notebook) {
  const given = new Set(notebook.cells.map((cell) => joined(cell.source).trim()));
  const texts = new Map(), more = [];
  const waiting = [];
  let last;
  const flush = (before) => waiting.splice(0).forEach((source) => more.push({ before, source }));
  for (const cell of theirs.cells) {
    const source = joined(cell.source);
    if (solvable(cell)) {
      const name = nameOf(cell);
      if (!texts.has(name)) texts.set(name, []);
      if (name === last) waiting.splice(0).forEach((one) => texts.get(name).push(one));
      else flush(name);
      texts.get(name).push(source);
      last = name;
    } else if (cell.cell_type === "code" && source.trim() && !given.has(source.trim())) {
      waiting.push(source);
    }
  }
  flush("");
  const whole = ([first, ...rest]) => [first, ...rest].map((one) => (rest.length ? one.replace(/\n$/, "") : one)).join("\n\n");
  return { texts: new Map([...texts].map(([name, halves]) => [name, whole(halves)])), more };
}

const inKB = (n) => `${Math.ceil(n / 1000).toLocaleString("en")} kB`;
const NOTHING = "Nothing was loaded: make it shorter, or go on in that notebook.";

// Throw an Error that says which limit a file exceeds; all chapters share the storage, so one file may use only part of it.
function checkLimits(name, answers, more) {
  const long = answers.find(({ source }) => source.length > MOST.answer);
  if (long) throw new Error(`${name}: the answer to ${long.cell.metadata.exercise} has ${inKB(long.source.length)}, and a page takes at most ${inKB(MOST.answer)}. ${NOTHING}`);
  if (more.length > MOST.cells) throw new Error(`${name} has ${more.length.toLocaleString("en")} cells of your own, and a page takes at most ${MOST.cells}. ${NOTHING}`);
  const own = JSON.stringify(more).length;
  if (own > MOST.own) throw new Error(`${name}: the cells of your own have ${inKB(own)}, and a page takes at most ${inKB(MOST.own)}. ${NOTHING}`);
  const all = answers.reduce((sum, { source }) => sum + source.length, own);
  if (all > MOST.loaded) throw new Error(`${name}: the answers and cells have ${inKB(all)}, and a page takes at most ${inKB(MOST.loaded)}. ${NOTHING}`);
}

// The plan to load a notebook (loading.js), with the `names` of its answers; throws an Error that says what is wrong with it.
export async function planOf(slug, file) {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than a notebook of this course: ${Math.round(file.size / 1e6)} MB.`);
  let theirs;
  try { theirs = JSON.parse(await file.text()); } catch { throw new Error(`${file.name} is no notebook.`); }
  if (theirs?.format === "backprop-progress") throw Object.assign(new Error(`${file.name} is a file of all your progress. Use Load everything on `), { link: { words: "the front page", to: "index.html" } });
  if (!Array.isArray(theirs?.cells) || !theirs.cells.every(isCell)) throw new Error(`${file.name} is no notebook.`);
  const notebook = await lessonNotebook(slug);
  const own = notebook.cells.filter(solvable);
  const { texts: found, more } = inParts(theirs, notebook);
  const known = own.filter((cell) => found.has(nameOf(cell)));
  if (known.length < found.size / 2) throw new Error(`${file.name} is a notebook of another chapter: most of its exercises are not in this one.`);
  if (!known.length) throw new Error(`${file.name} is not a notebook of this chapter: it has none of its exercises.`);
  const answers = known.map((cell) => ({ cell, source: found.get(nameOf(cell)) })).filter(({ cell, source }) => source !== joined(cell.source));
  const aside = answers.find(({ cell }) => taken(draftKey(cell.id)));
  if (aside) throw new Error(`${file.name}: this browser has set aside a text of ${aside.cell.metadata.exercise} that is too long for a page. Nothing was loaded: Reset ${aside.cell.metadata.exercise} first, which deletes that text.`);
  checkLimits(file.name, answers, more);
  const cells = [ownCellsKey(slug), more.length ? JSON.stringify(more) : null];
  const differs = ([key, text]) => ![null, text].includes(toSave(key));
  const keyed = ({ cell, source }) => [draftKey(cell.id), source];
  const conflicts = () => [...new Set(answers.filter((one) => differs(keyed(one))).map(({ cell }) => cell.metadata.exercise)), ...(differs(cells) ? ["cells of your own"] : [])];
  const rest = more.length ? `, and ${counted(more.length, "cell")} of your own` : "";
  return {
    words: `${file.name} has ${counted(answers.length, "answer")}${rest}.`,
    conflicts: conflicts(),
    names: [...new Set(answers.map(({ cell }) => cell.metadata.exercise))],
    commit(keep) {
      const replaced = conflicts().length;
      const taking = answers.filter((one) => !keep || !differs(keyed(one)));
      const loaded = taking.map(keyed);
      if (!keep || !differs(cells)) loaded.push(cells);
      const marks = withLoaded(slug, taking.map(({ cell, source }) => [cell.id, source]));
      if (!writeAll([...loaded.flatMap(([key, text]) => loading(key, text)), [loadedKey(slug), marks]])) throw new Error(`This browser's storage has no room for ${file.name}. Nothing was loaded: Reset answers that you no longer need.`);
      afresh(); // code that ran earlier must not judge the loaded answers
      if (keep && replaced) return `Loaded ${counted(taking.length, "answer")} of ${file.name}, and kept ${replaced} of yours.`;
      return `Loaded ${counted(answers.length, "answer")}${rest} of ${file.name}.${replaced ? " Undo brings back what it replaced." : ""}`;
    },
  };
}
