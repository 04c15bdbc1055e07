// Validates a worker's messages to the page. The worker runs notebooks that other people may have written, so each
// message is one JSON text, of which the page uses only fields with these types and lengths. Their content may be false,
// but does no harm, because the page shows it as text.
import { byName, cut, list, maybe, number, oneOf, or, plain, record, refuse, whether } from "./bounds.js";
import { LONGEST } from "./limits.js";
import { STATUSES } from "./statuses.js";

const LINE = 2_000;
const PAGE = 100_000; // characters
const BLOCKS = 1000; // at most, in a card
const NAME = /^[\w.-]{1,100}$/;
const name = (value) => (NAME.test(cut(101)(value)) ? value : refuse("name"));

// Blocks of a card: a sentence (with its cause in bold), preformatted lines, or blocks that open on a click.
const DEEPEST = 12;
let blocksLeft;
const blocks = (depth) => list((value) => {
  if (depth > DEEPEST) refuse("fewer levels");
  if (--blocksLeft < 0) refuse("fewer blocks");
  if (Object.hasOwn(plain(value), "summary")) return record({ summary: cut(LINE), inside: blocks(depth + 1) })(value);
  if (Object.hasOwn(value, "lines")) return record({ lines: cut(PAGE) })(value);
  return record({ cause: cut(LINE), rest: cut(PAGE) })(value);
}, 50);

// A line of an exercise's cells, to mark in its editor.
const place = maybe(record({ part: number(1, 100), line: number(1, 1_000_000) }));

const card = record({
  status: oneOf(STATUSES),
  points: number(0, 1000),
  misconception: maybe(cut(200)),
  message: cut(PAGE),
  blocks: blocks(1),
  case: maybe(cut(PAGE)), // only ever handed back to a worker
  line: place,
  more: maybe(whether), // whether a search may find more to say
  next: or("", cut(200)), // the part to write next, if all that is written is right
});
const error = record({ error: cut(LINE) });
const checked = (value) => (Object.hasOwn(plain(value), "error") ? error(value) : { ...card(value), error: "" });

// The content of `done`, by the action that was asked for.
export const ANSWERS = {
  prepare: record({}),
  check: checked,
  repair: checked,
  look: record({ lines: maybe(cut(PAGE)), error: maybe(cut(PAGE)), line: place }),
  scratch: record({ value: maybe(cut(PAGE)), picture: maybe(cut(10 * PAGE)), error: maybe(cut(PAGE)), line: place }),
  plan: record({ elsewhere: cut(200), answers: byName(cut(200), list(name, 100), 20), numpy: whether, data: whether }),
  run: record({ value: maybe(cut(PAGE)), picture: maybe(cut(10 * PAGE)), error: maybe(cut(PAGE)), ran: number(0, 1000), above: maybe(number(0, 1000)) }),
};
// The content of messages during an action and at its end, by key.
export const KINDS = {
  say: cut(LINE),
  out: cut(2 * PAGE),
  failed: cut(LINE),
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
