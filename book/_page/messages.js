// Validates a worker's messages to the page. The worker runs notebooks that other people may have written, so each
// message is one JSON text, of which the page uses only fields with these types and lengths. Their content may be false,
// but does no harm, because the page shows it as text.
import { LONGEST } from "./limits.js";
import { STATUSES } from "./statuses.js";

export class Nonsense extends Error {}
const refuse = (what) => { throw new Nonsense(what); };

const text = (most) => (value) => (typeof value === "string" ? value.slice(0, most) : refuse("text"));
const number = (least, most) => (value) => (typeof value === "number" && value >= least && value <= most ? value : refuse("number"));
const whether = (value) => (typeof value === "boolean" ? value : refuse("true or false"));
const oneOf = (values) => (value) => (values.includes(value) ? value : refuse("one of a few"));
const maybe = (check) => (value) => (value === undefined || value === null ? null : check(value));
const list = (check, most) => (value) => (Array.isArray(value) && value.length <= most ? Array.from(value, check) : refuse("list"));
const plain = (value) => (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype ? value : refuse("record"));
const record = (fields) => (value) => {
  plain(value);
  return Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check(Object.hasOwn(value, name) ? value[name] : undefined)]));
};
const byName = (check, most) => (value) => {
  const entries = Object.entries(plain(value));
  return new Map(entries.length <= most ? entries.map(([name, one]) => [text(200)(name), check(one)]) : refuse("fewer names"));
};

const LINE = 2_000;
const PAGE = 100_000; // characters
const BLOCKS = 1000; // at most, in a card
const NAME = /^[\w.-]{1,100}$/;
const name = (value) => (NAME.test(text(101)(value)) ? value : refuse("name"));

// Blocks of a card: a sentence (with its cause in bold), preformatted lines, or blocks that open on a click.
const DEEPEST = 12;
let blocksLeft;
const blocks = (depth) => list((value) => {
  if (depth > DEEPEST) refuse("fewer levels");
  if (--blocksLeft < 0) refuse("fewer blocks");
  if (Object.hasOwn(plain(value), "summary")) return record({ summary: text(LINE), inside: blocks(depth + 1) })(value);
  if (Object.hasOwn(value, "lines")) return record({ lines: text(PAGE) })(value);
  return record({ cause: text(LINE), rest: text(PAGE) })(value);
}, 50);

// A line of an exercise's cells, to mark in its editor.
const place = maybe(record({ part: number(1, 100), line: number(1, 1_000_000) }));

const card = record({
  status: oneOf(STATUSES),
  points: number(0, 1000),
  misconception: maybe(text(200)),
  message: text(PAGE),
  blocks: blocks(1),
  case: maybe(text(PAGE)), // only ever handed back to a worker
  line: place,
});
const error = record({ error: text(LINE) });

// The content of `done`, by the action that was asked for.
export const ANSWERS = {
  prepare: record({}),
  check: (value) => (Object.hasOwn(plain(value), "error") ? error(value) : { ...card(value), error: "" }),
  look: record({ lines: maybe(text(PAGE)), error: maybe(text(PAGE)), line: place }),
  scratch: record({ value: maybe(text(PAGE)), picture: maybe(text(10 * PAGE)), error: maybe(text(PAGE)), line: place }),
  plan: record({ elsewhere: text(200), answers: byName(list(name, 100), 20), numpy: whether, data: whether }),
  run: record({ value: maybe(text(PAGE)), picture: maybe(text(10 * PAGE)), error: maybe(text(PAGE)), ran: number(0, 1000), above: maybe(number(0, 1000)) }),
};
// The content of messages during an action and at its end, by key.
export const KINDS = {
  say: text(LINE),
  out: text(2 * PAGE),
  failed: text(LINE),
  done: (value, asked) => ANSWERS[asked](value),
};

// Returns { kind, value, fatal }, or null for a message that does not answer question `id`, which `asked` for one of
// ANSWERS. Throws `Nonsense` or a SyntaxError for an invalid message.
export function understood(text, { id, asked }) {
  if (text.length > LONGEST) refuse("fewer characters");
  const data = JSON.parse(text);
  if (plain(data).id !== id) return null;
  blocksLeft = BLOCKS;
  const [kind, more] = Object.keys(KINDS).filter((one) => Object.hasOwn(plain(data), one));
  if (!kind || more) refuse("one kind");
  return { kind, value: KINDS[kind](data[kind], asked), fatal: data.fatal === true };
}
