// What a reader does next: the next exercise of a chapter, or the next chapter.
import { placeIn } from "../_reader/kept.js";
import { addressOf, chapterOf, chapters, isSolved, shortOf, tierOf } from "./course.js";
import { parsed, result, write } from "./store.js";

const READ = 97; // per cent of a chapter from which it counts as read

// { next, core, skipped }: the first exercise below `name` in its page that is not solved, or undefined; the first such of the
// core; and all such above it.
export function around(slug, name) {
  const all = chapterOf(slug)?.exercises ?? [];
  const at = all.findIndex(([one]) => one === name);
  const open = (one) => !isSolved(slug, one);
  const below = all.slice(at + 1).filter(open).map(([one]) => one);
  return { next: below[0], core: below.find((one) => tierOf(one) === "core"), skipped: all.slice(0, Math.max(0, at)).filter(open).map(([one]) => one) };
}

export const chapterAfter = (slug) => chapters[chapters.findIndex((one) => one.slug === slug) + 1];

// The exercise that the reader worked on last: { lesson, exercise }, or null.
export const LAST = "last";
export function lastWorked() {
  const { lesson, exercise } = parsed(LAST) ?? {};
  const known = typeof lesson === "string" && chapterOf(lesson)?.exercises.some(([name]) => name === exercise);
  return known ? { lesson, exercise } : null;
}
export const worksOn = (lesson, exercise) => {
  const { lesson: former, exercise: same } = lastWorked() ?? {};
  if (former !== lesson || same !== exercise) write(LAST, JSON.stringify({ lesson, exercise }));
};

// Where the reader goes on: { words, to }; what is due if nothing is left; null if nothing was begun.
export function whereToGoOn() {
  const last = lastWorked() ?? lastTried();
  const from = last ? chapters.findIndex(({ slug }) => slug === last.lesson) : chapters.findLastIndex(({ slug }) => placeIn(slug));
  if (from < 0) return null;
  const here = chapters[from];
  if (last && !isSolved(here.slug, here.exercises.find(([name]) => name === last.exercise))) return toExercise(here, last.exercise);
  const next = last && around(here.slug, last.exercise).next;
  if (next) return toExercise(here, next);
  const open = (one) => !done(one);
  const more = chapters.slice(last ? from + 1 : from).find(open) ?? chapters.find(open);
  return more ? toChapter(more) : { words: "You have solved everything: see what is due today", to: "due.html" };
}

const toExercise = ({ slug }, name) => ({ words: `Continue with ${shortOf(slug)}: ${name}`, to: addressOf(slug, name) });
function toChapter(chapter) {
  const { slug, title, exercises } = chapter;
  const begun = exercises.some(([name]) => result(slug, name)) && exercises.find((one) => !isSolved(slug, one));
  return begun ? toExercise(chapter, begun[0]) : { words: `Continue with ${shortOf(slug)}: ${title}`, to: addressOf(slug) };
}
const done = ({ slug, exercises }) => (exercises.length ? exercises.every((one) => isSolved(slug, one)) : placeIn(slug) >= READ);

// Of readers whose browser has results from a former edition of this book: their last exercise in the course's order.
function lastTried() {
  for (const { slug, exercises } of [...chapters].reverse()) {
    const tried = exercises.findLast(([name]) => !["missing", undefined].includes(result(slug, name)?.status));
    if (tried) return { lesson: slug, exercise: tried[0] };
  }
  return null;
}
