// Python in a worker; terminating the worker stops it. It runs from a `data:` address, after Pyodide's scripts
// (interpreter.js), so its origin is opaque, and it fetches and stores nothing. It answers a message { id, do, ... } by any
// number of { id, say | out } and then one { id, done } or { id, failed }, each as a JSON text (messages.js).
import { confine } from "./confined.js";
import { LONGEST } from "./limits.js";

const NOWHERE = "https://book.invalid/"; // Pyodide's index URL; `fetch` below only uses the file names
const MOST = 200_000; // characters of output for one request; a page shows half of it
let python;
let now = 0; // id of the current request
let dying = false; // Pyodide prints a long report when it crashes

// A reader's code has no postMessage (confined.js), and cannot replace this copy of `stringify`: so a page gets only texts
// within its limit. An object of a hundred megabytes would block it while it is unpacked.
const post = self.postMessage.bind(self);
const { stringify } = JSON;
const tell = (message) => {
  const text = stringify({ id: now, ...message });
  post(text.length <= LONGEST ? text : stringify({ id: now, failed: "It says more than a page can show." }));
};

// Pyodide calls `fetch`: it gets only the files that the page has passed.
const given = new Map();
const handOver = async (address) => {
  const name = String(address).split("/").at(-1);
  if (!given.has(name)) throw new TypeError(`${name} is not there`);
  const file = given.get(name);
  given.delete(name);
  return new Response(file);
};
Object.defineProperty(self, "fetch", { value: handOver, writable: false, configurable: false });

const OLD = `
import importlib.util, os
for folder, _, files in os.walk(os.path.dirname(importlib.util.find_spec("numpy").origin)):
    for file in files:
        os.utime(f"{folder}/{file}", (0, 0))
`;
const PACK = `
import io, tarfile
packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w") as archive:
    archive.add("/compiled", ".")
packed.getvalue()
`;

const unpack = (archive) => python.unpackArchive(archive, "bztar", { extractDir: "/course" });

const STEPS = {
  // `module`: Pyodide's WebAssembly, compiled by the page; `compiled`: bytecode that an earlier Python compiled, or null.
  async python({ module, compiled }) {
    const streaming = WebAssembly.instantiateStreaming;
    given.set("pyodide.asm.wasm", null);
    WebAssembly.instantiateStreaming = async (_, imports) => ({ module, instance: await WebAssembly.instantiate(module, imports) });
    python = await loadPyodide({ indexURL: NOWHERE });
    WebAssembly.instantiateStreaming = streaming;
    confine();
    const decoder = new TextDecoder();
    const write = (piece) => (speak(decoder.decode(piece, { stream: true })), piece.length);
    python.FS.mkdir("/compiled"); // Python creates its subfolders, but not the folder itself
    python.runPython("import sys; sys.pycache_prefix, sys.dont_write_bytecode = '/compiled', False");
    python.setStdout({ write });
    python.setStderr({ write: (piece) => (/^Stack \(most recent|^Fatal/.test(decoder.decode(piece)) ? (dying = true) : dying || write(piece), piece.length) });
    if (compiled) python.unpackArchive(compiled, "tar", { extractDir: "/compiled" });
  },
  async numpy() {
    tell({ say: "Starting NumPy" });
    await python.loadPackage("numpy", { messageCallback() {}, errorCallback() {} });
    python.runPython(OLD); // so that the modification times match those in the compiled bytecode
  },
  grader({ archive }) {
    unpack(archive);
    python.runPython("import sys; sys.path.insert(0, '/course')");
  },
  data: ({ archive }) => unpack(archive),
  repairs({ archive }) {
    unpack(archive);
    python.runPython("import importlib; importlib.invalidate_caches()"); // its modules lie in folders that Python has listed
  },
  lesson({ archive, name }) {
    unpack(archive);
    tell({ say: "Starting the checks" });
    python.pyimport("autograder.page.check").ready(name);
  },
  // One exercise's part of the answer book.
  answers({ archive, name }) {
    const [lesson, exercise] = name.split("/");
    const folder = `/course/autograder/lessons/${lesson}/answers`;
    python.FS.mkdirTree(folder);
    python.FS.writeFile(`${folder}/${exercise}.book`, new Uint8Array(archive));
  },
};

// Output is sent in batches, so that a loop that prints does not flood the page with messages.
let waiting = "";
let last = 0;
let said = 0;
function speak(text) {
  if (said > MOST) return;
  said += text.length;
  waiting += text.slice(0, MOST);
  if (waiting.length > 8192 || performance.now() - last > 60) flush();
}
function flush() {
  if (waiting) tell({ out: waiting });
  [waiting, last] = ["", performance.now()];
}

const ACTIONS = {
  // `parts`: the data of each step, in order. `pack`: return the compiled bytecode, before any reader's code has run.
  async prepare({ parts, pack }) {
    tell({ say: "Starting Python" });
    for (const part of parts) {
      for (const [name, file] of Object.entries(part.files ?? {})) given.set(name, file);
      await STEPS[part.step](part);
    }
    if (!pack) return {};
    const packed = python.runPython(PACK);
    post(packed.toJs());
    packed.destroy();
    return {};
  },
  check({ lesson, exercise, notebook }) {
    const module = python.pyimport("autograder.page.check");
    const found = JSON.parse(module.as_json(lesson, exercise, notebook, (say) => tell({ say })));
    flush(); // what the answer printed
    return found;
  },
  // The card of the last check, with the place of the smallest change that makes the answer right.
  repair({ lesson, exercise }) {
    const module = python.pyimport("autograder.page.repair");
    return JSON.parse(module.as_json(lesson, exercise, (say) => tell({ say })));
  },
  // The reader's answers outside of a check: on the case of a card, or called by code of the reader's own.
  look({ lesson, exercise, notebook, case: given }) {
    const found = JSON.parse(python.pyimport("autograder.page.bench").look_as_json(lesson, exercise, notebook, given));
    flush();
    return found;
  },
  scratch({ lesson, exercise, notebook, code }) {
    const found = JSON.parse(python.pyimport("autograder.page.bench").scratch_as_json(lesson, exercise, notebook, code));
    flush();
    return found;
  },
  plan: ({ cells, at, lessons }) =>
    JSON.parse(python.pyimport("autograder.page.live").plan_as_json(JSON.stringify(cells), at, JSON.stringify(lessons))),
  run({ cells, at, answers }) {
    const module = python.pyimport("autograder.page.live");
    const found = JSON.parse(module.run_as_json(JSON.stringify(cells), at, JSON.stringify(answers)));
    flush();
    return found;
  },
};

const ANEW = "Python starts anew with the next click, and nothing you typed is lost.";
const IN_WORDS = [
  [/call stack size/, `It called itself deeper than a browser's Python can follow. ${ANEW}`],
  [/MemoryError|out of memory|Array buffer allocation|memory access/i, `It took more memory than a browser gives. ${ANEW}`],
];

self.onmessageerror = () => {
  now += 1;
  tell({ failed: "This browser hands no program over to a worker.", fatal: true });
};
self.onmessage = async ({ data }) => {
  now = data.id;
  said = 0;
  try {
    const done = await ACTIONS[data.do](data);
    tell({ done });
  } catch (error) {
    flush();
    const text = String(error?.message ?? error);
    // a Python that has run out of memory or stack must not be used again
    const fatal = error?.name !== "PythonError" || /MemoryError/.test(text);
    tell({ failed: IN_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? text.trim().split("\n").at(-1), fatal });
  }
};
