// One Python, in a worker from a `data:` address: its origin is opaque, so it cannot reach storage, caches or other tabs of
// the book, and it inherits the page's policy, so it cannot send to other hosts. It cannot fetch either: the page passes it
// all files, and validates its messages (messages.js).
import { LETTERS, MOST_BYTES } from "./limits.js";
import { understood } from "./messages.js";
import { Failed, files, partOf, remember, scripts } from "./parts.js";

// Parts are loaded from the last of these to the first, then lessons and an exercise's answers, `lesson/exercise`.
const ORDER = ["data", "grader", "numpy", "python"];
const BURST = 2000; // messages at once; our worker never sends as many
const RATE = 200; // messages a second, on average
const NONSENSE = "Python said something that a page does not understand, and was stopped. It starts anew with the next click.";
const FLOOD = "Python said more than a page can take, and was stopped. It starts anew with the next click.";

let address; // of the worker's source, also for the spare
const addressOf = (text) => new Promise((done) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.readAsDataURL(new Blob([text], { type: "text/javascript;charset=utf-8" }));
});

export class Interpreter {
  constructor() {
    this.parts = new Set();
    this.asked = 0;
    this.room = BURST;
    this.letters = LETTERS;
    this.since = performance.now();
    this.over = new Promise((_, failed) => {
      this.end = (error) => {
        if (this.worker) this.worker.onmessage = null; // ignore messages that are still queued
        this.worker?.terminate();
        failed(error);
      };
    });
    this.over.catch(() => {}); // `ask` and `prepare` report it
  }

  async start(count) {
    address ??= scripts(count).then(addressOf).catch((error) => { address = undefined; throw error; });
    this.worker = new Worker(await address);
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onmessageerror = () => this.broken(NONSENSE);
    this.worker.onerror = (event) => {
      event.preventDefault?.();
      this.broken("Python has ended, perhaps for want of memory. It is started anew with the next click.");
    };
  }

  broken(why) { this.end(Object.assign(new Failed(why), { fatal: true })); }

  heard(data) {
    const now = performance.now();
    this.room = Math.min(BURST, this.room + ((now - this.since) / 1000) * RATE) - 1;
    this.since = now;
    if (data instanceof Uint8Array && this.turn?.packing && data.byteLength <= MOST_BYTES) {
      this.turn.packing = false;
      this.turn.compiled = data;
      return;
    }
    // only text: a structured message could take as long to unpack as its sender likes
    if (typeof data !== "string") return this.broken(NONSENSE);
    this.letters -= data.length;
    if (this.room < 0 || this.letters < 0) return this.broken(FLOOD);
    if (!this.turn) return; // late
    let message;
    try { message = understood(data, this.turn); } catch { return this.broken(NONSENSE); }
    if (!message) return; // late: it answers an earlier question
    const { kind, value, fatal } = message;
    if (kind === "done") this.turn.done(this.turn.compiled ? { compiled: this.turn.compiled } : value);
    else if (kind === "failed") this.turn.failed(Object.assign(new Failed(value), { fatal }));
    else this.turn.hear({ [kind]: value });
  }

  ask(message, hear = () => {}, transfer = []) {
    const id = ++this.asked;
    this.letters = LETTERS;
    const answer = new Promise((done, failed) => { this.turn = { id, asked: message.do, packing: message.pack === true, done, failed, hear }; });
    this.worker.postMessage({ ...message, id }, transfer);
    return Promise.race([answer, this.over]).finally(() => { this.turn = null; });
  }

  // Fetch these parts and have the worker unpack them. A spare returns its compiled bytecode, which is safe to store because
  // no reader's code has run in it.
  async prepare(parts, hear, spare = false) {
    const { sizes, data, version } = await files();
    const wanted = parts.some((part) => data.includes(part)) ? ["data", ...parts] : parts;
    const missing = wanted.filter((part) => !this.parts.has(part)).sort((a, b) => ORDER.indexOf(b) - ORDER.indexOf(a));
    if (!missing.length) return;
    const total = missing.reduce((sum, part) => sum + (sizes[part] ?? 0), 0);
    let loaded = 0;
    const count = (more) => hear({ loaded: (loaded += more), total });
    hear({ loaded, total });
    const fetched = async () => {
      if (!this.worker) await this.start(count);
      return Promise.all(missing.map((part) => partOf(part, version, count)));
    };
    const made = await Promise.race([fetched(), this.over]);
    const known = made.some((part) => part.compiled);
    const pack = spare && missing.includes("python") && !known;
    const { compiled } = await this.ask({ do: "prepare", parts: made, pack }, hear);
    if (compiled && pack) await remember(version, compiled);
    missing.forEach((part) => this.parts.add(part));
  }
}
