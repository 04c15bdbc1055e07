// Checks answers with what a built book's pages fetch, in Pyodide: node page_table.mjs PAGE LESSON CASES [cards]
// With `cards` each result is the whole card, after a search for a repair where a page makes one.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [page, lesson, cases, cards] = process.argv.slice(2);
process.on("uncaughtException", (error) => {
  console.error(error.message); // without the line of Pyodide that it comes from, which is the whole program
  process.exit(1);
});
const home = path.join(page, fs.readdirSync(page).find((name) => name.startsWith("python-")));
const { loadPyodide } = createRequire(import.meta.url)(path.join(home, "pyodide.js"));
const python = await loadPyodide({ indexURL: home });
await python.loadPackage("numpy", { messageCallback() {} });
for (const part of ["grader", "data", "repairs", lesson])
  python.unpackArchive(new Uint8Array(fs.readFileSync(path.join(page, `${part}.tar.bz2`))), "bztar", { extractDir: "/course" });
const answers = `/course/autograder/lessons/${lesson}/answers`;
python.FS.mkdir(answers);
for (const name of fs.readdirSync(path.join(page, lesson)))
  python.FS.writeFile(`${answers}/${name}`, new Uint8Array(fs.readFileSync(path.join(page, lesson, name))));
python.runPython("import sys; sys.path.insert(0, '/course'); sys.dont_write_bytecode = True");
python.globals.set("whole", cards === "cards");
python.globals.set("told", (line) => console.log(line));
python.globals.set("found", fs.readFileSync(cases, "utf-8"));
python.runPython(fs.readFileSync(path.join(import.meta.dirname, "page_table_checks.py"), "utf-8"));
