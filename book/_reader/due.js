// The page "Due today": brings back quizzes, predictions and passed exercises, each after a time that the algorithm FSRS
// computes from the reader's former answers. Questions are taken from their chapters, which a page from the disk cannot read.
import { createEmptyCard, fsrs } from "ts-fsrs";
import { saveFile } from "../_page/loading.js";
import { deck } from "./anki.js";
import { aboutOf, sectionOf } from "./about.js";
import { Choices } from "./choices.js";
import { comingBack, DAY, dueKey, MOST_LOG } from "./dues.js";
import { element } from "./element.js";
import { keep } from "./kept.js";
import { bookPage } from "./pages.js";
import { shortOf } from "./words.js";

const MOST = 20; // at one visit
const AGAIN = 1, GOOD = 3;
const scheduler = fsrs({ enable_fuzz: false, enable_short_term: false });

// The time of the next repetition after these answers, at least tomorrow and at most in a year.
function nextDue(log, now) {
  const times = [...log].sort(([one], [other]) => one - other);
  let card = createEmptyCard(new Date(times[0][0]));
  try {
    for (const [time, grade] of times) card = scheduler.next(card, new Date(time), grade).card;
  } catch { return now + DAY; } // a stored value that our pages did not write
  return Math.min(Math.max(card.due.getTime() || 0, now + DAY * 0.8), now + 365 * DAY);
}

const day = (time) => new Date(time).toLocaleDateString("en", { day: "numeric", month: "long" });

function answered({ page, id, log }, grade) {
  const now = Date.now();
  const all = [...log, [now, grade]].slice(-MOST_LOG);
  const due = nextDue(all, now);
  const refused = keep(dueKey(page, id), { due, log: all });
  return refused || `It comes back on ${day(due)}.`;
}

// The question of a quiz or a prediction: { question, lead, options, right, answers, name }, or null.
function questionOf(found, id) {
  const box = found?.getElementById(id);
  if (!box) return null;
  const all = (within, selector) => [...(within?.querySelectorAll(selector) ?? [])];
  const own = document.importNode(box, true);
  if (box.classList.contains("predict")) {
    const items = all(own, ":scope > .predict-options > li");
    const answers = all(box.parentElement, ":scope > .cell_output > .predict-output > .quiz-answer").map((one) => document.importNode(one, true));
    return { question: own.querySelector(".predict-question"), lead: [], options: items, right: items.map((one) => one.classList.contains("right")), answers };
  }
  const options = all(own, ":scope > .quiz-option");
  const [question, ...lead] = [...own.children].filter((one) => !options.includes(one));
  return {
    question, lead, options: options.map((one) => one.querySelector("summary")),
    right: options.map((one) => one.classList.contains("right")), answers: options.map((one) => one.querySelector(".quiz-answer")),
  };
}

function asked(one, found, done) {
  const { question, lead, options, right, answers } = found;
  const choices = new Choices({ question, lead, options, several: right.filter(Boolean).length > 1, name: `due-${one.page}-${one.id}` });
  let first = true;
  choices.checked = () => {
    const chosen = choices.chosen();
    const good = right.every((is, at) => is === chosen.includes(at));
    choices.mark(chosen.map((at) => [at, right[at]]));
    choices.answer(chosen.map((at) => ({ right: right[at], content: answers[at] })));
    const said = first ? ` ${answered(one, good ? GOOD : AGAIN)}` : "";
    choices.said.textContent = `${good ? "Right." : "Not yet: choose again."}${said}`;
    if (first) done();
    first = false;
  };
  return choices.form;
}

// An exercise is written again in its chapter; the reader says how it went.
function written(one, done) {
  const said = element("span", { role: "status" });
  const button = (words, grade) => element("button", { type: "button", class: "choices-check", onclick: () => {
    said.textContent = answered(one, grade);
    buttons.forEach((each) => (each.disabled = true));
    done();
  } }, words);
  const buttons = [button("I could write it", GOOD), button("I had to look it up", AGAIN)];
  const link = element("a", { href: `${one.page}.html?again=${one.id}#${one.id}` }, "in its chapter");
  return element("div", {}, element("p", {}, "Write ", element("code", {}, one.id), " on paper, or ", link, ", which opens with the stub: your answer of before is folded there. Then compare the two, and the course's own way."),
    element("p", { class: "due-said" }, ...buttons.flatMap((each) => [each, " "]), said));
}

async function itemOf(one, done) {
  const kind = /^quiz-/.test(one.id) ? "a question" : /^predict-/.test(one.id) ? "a prediction" : "an exercise";
  const to = kind === "an exercise" ? `?again=${one.id}#${one.id}` : `#${one.id}`;
  const link = element("a", { href: `${one.page}.html${to}` }, shortOf(one.page));
  const head = element("p", { class: "due-from" }, link, `, ${kind}`);
  const found = await pageOf(one);
  const box = found?.getElementById(one.id), address = addressOf(one);
  const [about, section] = box ? [aboutOf(box, address), sectionOf(box, address)] : [[], []];
  if (kind === "an exercise") return element("li", { class: "due-item" }, head, ...about, written(one, done));
  const question = questionOf(found, one.id);
  if (found && !question) return null; // a question of a former edition
  const form = question ? asked(one, question, done) : "Answer it again in its chapter: this page cannot read it here.";
  const below = question && /\bbelow\b/.test(question.question.textContent);
  return element("li", { class: "due-item" }, head, ...(below ? [form, ...about] : [...about, form]), ...section);
}

const isQuestion = ({ id }) => /^(?:quiz|predict)-/.test(id);
const addressOf = (one) => new URL(`${one.page}.html`, location.href).href;
const pageOf = (one) => bookPage(addressOf(one));

// A button that saves the questions among `all` for Anki, and says how many.
function ankiTools(all) {
  const said = element("span", { role: "status" });
  const save = async () => {
    const found = await Promise.all(all.filter(isQuestion).map(async (one) => ({ page: one.page, question: questionOf(await pageOf(one), one.id) })));
    const whole = found.filter(({ question }) => question);
    if (whole.length) saveFile("backprop-anki.txt", deck(whole, KATEX_MACROS), "text/plain");
    said.textContent = whole.length ? `Saved ${whole.length} of ${found.length} questions: File > Import in Anki takes the file.` : "There is no question yet that this page can read.";
  };
  return element("p", {}, element("button", { type: "button", class: "choices-check", onclick: save }, "Save my questions for Anki"), " ", said);
}

async function start(place) {
  const now = Date.now();
  const all = comingBack(now);
  const due = all.filter((one) => one.due <= now);
  const today = due.slice(0, MOST);
  const said = element("p", { role: "status" });
  let left = today.length;
  const tell = () => {
    const later = all.filter((one) => one.due > now);
    const rest = due.length > MOST ? ` ${due.length - MOST} more wait until you come again.` : "";
    if (left) said.textContent = `${left} due today, of ${all.length} that you have answered or passed.${rest}`;
    else if (today.length) said.textContent = `Done for today.${rest}`;
    else said.textContent = all.length ? `Nothing is due today. The next item comes back on ${day(later[0].due)}.` : "Nothing yet: answer questions and pass exercises in the chapters. They come back here from the next day on.";
  };
  const items = await Promise.all(today.map((one) => itemOf(one, () => ((left -= 1), tell()))));
  left = items.filter(Boolean).length;
  tell();
  place.replaceChildren(said, element("ol", { class: "due-list" }, ...items.filter(Boolean)), ...(all.some(isQuestion) ? [ankiTools(all)] : []));
}

const place = document.querySelector(".due-today");
if (place) start(place);
