// The chapters of this book in order, as the build has written them: { slug, title, exercises }, where an exercise of the
// page is [name, points, title of its section], in the order of the page.
import { result } from "./store.js";

export { shortOf } from "../_reader/words.js";

export const chapters = LESSONS;
export const chapterOf = (slug) => chapters.find((one) => one.slug === slug);
export const addressOf = (slug, exercise = "") => `${slug}.html${exercise ? `#${exercise}` : ""}`;
export const tierOf = (exercise) => document.getElementById(exercise)?.dataset.tier; // of an exercise in this page
export const isSolved = (slug, [name, points]) => (result(slug, name)?.best ?? 0) >= points;
