// Python, in a worker of its own: whoever wants it to stop ends the worker.
// A message { id, do, ... } is answered by any number of { id, say | loaded | out } and one { id, done } or { id, failed }.
const HERE = new URL(".", self.location.href);
let python;
let have = new Set();
let now = 0; // the id of the request that is worked on
let dying = false; // Pyodide says how it dies, at length
let count = null; // what counts the bytes that arrive

const tell = (message) => postMessage({ id: now, ...message });

// Pyodide fetches for itself: what arrives is counted on its way.
const plain = self.fetch.bind(self);
self.fetch = async (...asked) => {
  const answer = await plain(...asked);
  if (!answer.ok || !answer.body || !count) return answer;
  if (answer.url.endsWith(".wasm")) { // a browser keeps what it has compiled of an answer of its own alone
    countOf(answer.clone().body);
    return answer;
  }
  const counted = answer.body.pipeThrough(
    new TransformStream({ transform(piece, to) { count(piece.byteLength); to.enqueue(piece); } }),
  );
  return new Response(counted, { status: answer.status, headers: answer.headers });
};

async function countOf(body) {
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) count?.(piece.value.byteLength);
}

async function bytes(name) {
  const answer = await self.fetch(new URL(name, HERE));
  if (!answer.ok) throw new Error(`${name} is not there (${answer.status})`);
  return answer.arrayBuffer();
}

async function unpack(part) {
  python.unpackArchive(await bytes(`${part}.tar.bz2`), "bztar", { extractDir: "/course" });
}

// What the checks of one exercise compare with.
async function takeAnswers(lesson, exercise) {
  const folder = `/course/autograder/lessons/${lesson}/answers`;
  python.FS.mkdirTree(folder);
  python.FS.writeFile(`${folder}/${exercise}.book`, new Uint8Array(await bytes(`${lesson}/${exercise}.book`)));
}

// What Python has compiled is kept, for one version of all sources: compiling takes a browser seconds.
const KEPT = "backprop-compiled";
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
let restored = false;

async function restore(version) {
  try {
    const found = await (await caches.open(KEPT)).match(`${HERE}${version}`);
    if (!found) return;
    python.unpackArchive(await found.arrayBuffer(), "tar", { extractDir: "/compiled" });
    restored = true;
  } catch { /* not kept here: it is compiled again */ }
}

async function keepCompiled(version) {
  if (restored) return;
  try {
    const packed = python.runPython(PACK);
    await caches.delete(KEPT);
    await (await caches.open(KEPT)).put(`${HERE}${version}`, new Response(packed.toJs()));
    packed.destroy();
  } catch { /* a full disk, or a browser that keeps nothing */ }
}

const STEPS = {
  async python() {
    const folder = new URL(`python-${PYODIDE}/`, HERE);
    const { loadPyodide } = await import(new URL("pyodide.mjs", folder));
    python = await loadPyodide({ indexURL: folder.href });
    const decoder = new TextDecoder();
    const write = (piece) => (speak(decoder.decode(piece, { stream: true })), piece.length);
    python.FS.mkdir("/compiled"); // Python makes folders in it, but not itself
    python.runPython("import sys; sys.pycache_prefix, sys.dont_write_bytecode = '/compiled', False");
    python.setStdout({ write });
    python.setStderr({ write: (piece) => (/^Stack \(most recent|^Fatal/.test(decoder.decode(piece)) ? (dying = true) : dying || write(piece), piece.length) });
  },
  async numpy() {
    await python.loadPackage("numpy", { messageCallback() {}, errorCallback() {} });
    python.runPython(OLD); // what was compiled belongs to a source of that age
  },
  async grader() {
    await unpack("grader");
    python.runPython("import sys; sys.path.insert(0, '/course')");
  },
  async data() {
    await unpack("data");
  },
};

// `parts`: python, numpy, grader, the slug of a lesson, whose checks are read then, or `lesson/exercise`.
async function prepare({ parts, sizes, version, spare }) {
  const missing = parts.filter((part) => !have.has(part));
  const total = missing.reduce((sum, part) => sum + (sizes[part] ?? 0), 0);
  let loaded = 0;
  let due = 0; // what has arrived once this part has: then it is unpacked, which takes a while
  count = (more) => tell((loaded += more) < due ? { loaded, total } : { say: "Starting Python" });
  if (total) tell({ loaded, total });
  for (const part of missing) {
    due += sizes[part] ?? 0;
    if (STEPS[part]) await STEPS[part]();
    else if (part.includes("/")) await takeAnswers(...part.split("/"));
    else {
      await unpack(part);
      tell({ say: "Starting the checks" });
      python.pyimport("autograder.page.check").prepared(part);
    }
    have.add(part);
    if (part === "python") await restore(version);
  }
  count = null;
  if (spare) await keepCompiled(version); // nobody waits for it
}

// What Python prints goes out in pieces: a loop that prints must not drown the page in messages.
let waiting = "";
let last = 0;
function speak(text) {
  waiting += text;
  if (waiting.length > 8192 || performance.now() - last > 60) flush();
}
function flush() {
  if (waiting) tell({ out: waiting });
  [waiting, last] = ["", performance.now()];
}

function fromPython(value) {
  return JSON.parse(value);
}

const ACTIONS = {
  prepare,
  check({ lesson, exercise, notebook }) {
    const module = python.pyimport("autograder.page.check");
    return fromPython(module.as_json(lesson, exercise, notebook, (say) => tell({ say })));
  },
  plan: ({ cells, at, lessons }) =>
    fromPython(python.pyimport("autograder.page.live").plan_as_json(JSON.stringify(cells), at, JSON.stringify(lessons))),
  run({ cells, at, answers }) {
    const module = python.pyimport("autograder.page.live");
    const found = fromPython(module.run_as_json(JSON.stringify(cells), at, JSON.stringify(answers)));
    flush();
    return found;
  },
};

const ANEW = "Python starts anew with the next click, and nothing you typed is lost.";
const IN_WORDS = [
  [/call stack size/, `It called itself deeper than a browser's Python can follow. ${ANEW}`],
  [/MemoryError|out of memory|Array buffer allocation|memory access/i, `It took more memory than a browser gives. ${ANEW}`],
  [/Failed to fetch|NetworkError|imported module|is not there|Load failed/i, "Python could not be fetched: is there a network? Nothing you typed is lost."],
];

onmessage = async ({ data }) => {
  now = data.id;
  try {
    const done = await ACTIONS[data.do](data);
    tell({ done: done ?? null });
  } catch (error) {
    flush();
    count = null;
    const text = String(error?.message ?? error);
    // a Python that has run out of its memory, or of its stack, is not to be used again
    const fatal = error?.name !== "PythonError" || /MemoryError/.test(text);
    tell({ failed: IN_WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? text.trim().split("\n").at(-1), fatal });
  }
};
