// Fetches the files of Python for the worker, which cannot fetch, and counts the bytes for the progress bar.
export const HERE = new URL(".", import.meta.url);
const FOLDER = new URL(`python-${PYODIDE}/`, HERE);
export const NO_NETWORK = "Python could not be fetched: is there a network? Nothing you typed is lost.";
export class Failed extends Error {}

let manifest;
export async function files() {
  manifest ??= fetch(new URL("manifest.json", HERE)).then((answer) => {
    if (!answer.ok) throw Object.assign(new Failed("Python is not part of this copy of the book."), { missing: true });
    return answer.json();
  });
  try {
    return await manifest;
  } catch (error) {
    manifest = undefined;
    throw error instanceof Failed ? error : new Failed(NO_NETWORK);
  }
}

async function answerOf(address, count) {
  let answer;
  try { answer = await fetch(address); } catch { throw new Failed(NO_NETWORK); }
  if (!answer.ok) throw new Failed(NO_NETWORK);
  if (answer.body) counted(answer.clone().body, count).catch(() => {}); // reading the answer itself reports errors
  return answer;
}

async function counted(body, count) {
  const reader = body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) count(piece.value.byteLength);
}

const bytes = async (address, count) => {
  const answer = await answerOf(address, count);
  return answer.arrayBuffer().catch(() => { throw new Failed(NO_NETWORK); });
};

// The page compiles WebAssembly, because browsers cache compiled code only for a response of the page's own origin.
async function compiledModule(count) {
  const address = new URL("pyodide.asm.wasm", FOLDER);
  const streamed = WebAssembly.compileStreaming(await answerOf(address, count));
  return streamed.catch(async () => WebAssembly.compile(await bytes(address, () => {}))); // a server with a wrong content type
}
let module;

// The worker's source, with Pyodide's scripts prepended, because it cannot import.
export async function scripts(count) {
  const addresses = [new URL("pyodide.asm.js", FOLDER), new URL("pyodide.js", FOLDER), new URL("worker.js", HERE)];
  const texts = await Promise.all(addresses.map(async (one) => new TextDecoder().decode(await bytes(one, count))));
  return texts.map((text) => text.replace(/\n\/\/# sourceMappingURL=.*$/m, "")).join("\n;\n");
}

// The data for one of the worker's steps; `part` is python, numpy, grader, data, repairs, a lesson's slug, or `lesson/exercise`.
export async function partOf(part, version, count) {
  const lock = new URL("pyodide-lock.json", FOLDER);
  if (part === "python") {
    module ??= compiledModule(count).catch((error) => { module = undefined; throw error; });
    const [compiled, list, library] = [await remembered(version), await bytes(lock, count), await bytes(new URL("python_stdlib.zip", FOLDER), count)];
    return { step: part, module: await module, compiled, files: { "pyodide-lock.json": list, "python_stdlib.zip": library } };
  }
  if (part === "numpy") {
    const { packages } = await (await answerOf(lock, () => {})).json();
    const name = packages.numpy.file_name;
    return { step: part, files: { [name]: await bytes(new URL(name, FOLDER), count) } };
  }
  if (part.includes("/")) return { step: "answers", name: part, archive: await bytes(new URL(`${part}.book`, HERE), count) };
  const step = ["grader", "data", "repairs"].includes(part) ? part : "lesson";
  return { step, name: part, archive: await bytes(new URL(`${part}.tar.bz2`, HERE), count) };
}

// Compiled bytecode is cached for one version of all sources, because compiling takes seconds.
const KEPT = "backprop-compiled";
async function remembered(version) {
  try {
    const found = await (await caches.open(KEPT)).match(`${HERE}${version}`);
    return found ? await found.arrayBuffer() : null;
  } catch { return null; } // no cache: Python compiles again
}

export async function remember(version, compiled) {
  try {
    await caches.delete(KEPT);
    await (await caches.open(KEPT)).put(`${HERE}${version}`, new Response(compiled));
  } catch { /* a full disk */ }
}
