// Grades right.py and wrong.py of a folder with its release, in Pyodide: node in_pyodide.mjs PYODIDE NUMPY PREFIX FOLDER LESSON
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [pyodide, numpy, prefix, folder, lesson] = process.argv.slice(2);
// Pyodide looks for wheels beside itself, and nothing of ours is written there.
const home = fs.mkdtempSync(path.join(os.tmpdir(), "pyodide-"));
try {
  for (const name of fs.readdirSync(pyodide)) fs.symlinkSync(path.join(pyodide, name), path.join(home, name));
  fs.copyFileSync(numpy, path.join(home, path.basename(numpy)));
  const { loadPyodide } = await import(pathToFileURL(path.join(pyodide, "pyodide.mjs")).href);
  const python = await loadPyodide({ indexURL: home, packageCacheDir: home });
  await python.loadPackage("numpy", { messageCallback() {} });
  for (const [at, from] of [["/prefix", prefix], ["/folder", folder]]) {
    python.FS.mkdirTree(at);
    python.mountNodeFS(at, from);
  }
  python.globals.set("lesson", lesson);
  python.runPython(`
import glob, json, shutil, sys
from pathlib import Path

sys.dont_write_bytecode = True
site = Path("/lib/python3.12/site-packages")
packages = glob.glob("/prefix/lib/python3*/site-packages")[0]
shutil.copy(f"{packages}/py.py", site)
for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
    shutil.copytree(f"{packages}/{name}", site / name, dirs_exist_ok=True)
sys.path.insert(0, "/folder/release")
from autograder.judging.here import graded_here
from autograder.judging.collection import with_judge
from autograder.submission import parse_submission
from course.syllabus import find_lesson


def told(judge, name):
    found = graded_here(judge, parse_submission(name, Path("/folder", name).read_bytes()))
    return {one.name: [one.status, one.message] for one in found}


print(json.dumps(with_judge(find_lesson(lesson), lambda judge: [told(judge, name) for name in ("right.py", "wrong.py")])))
`);
} catch (error) {
  console.error(error.message); // without the line of Pyodide that it comes from, which is the whole program
  process.exitCode = 1;
} finally {
  fs.rmSync(home, { recursive: true, force: true });
}
