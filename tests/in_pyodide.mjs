// Grades files with a release's judge, in Pyodide:
// node in_pyodide.mjs PYODIDE NUMPY PREFIX FOLDER LESSON:FILE[:EXERCISE[:SECONDS]] ...
// FOLDER has the release and the files. Prints JSON: for each file the results of all exercises, or of the one. No call
// takes longer than SECONDS.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [pyodide, numpy, prefix, folder, ...asked] = process.argv.slice(2);
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
  python.globals.set("asked", python.toPy(asked));
  python.runPython(`
import glob, itertools, json, shutil, sys, time
from pathlib import Path

sys.dont_write_bytecode = True
site = Path("/lib/python3.12/site-packages")
packages = glob.glob("/prefix/lib/python3*/site-packages")[0]
shutil.copy(f"{packages}/py.py", site)
for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
    shutil.copytree(f"{packages}/{name}", site / name, dirs_exist_ok=True)
sys.path.insert(0, "/folder/release")
from autograder.judging.asking import here_run
from autograder.judging.here import graded_here
from autograder.collection import with_judge
from autograder.submission import parse_submission
from course.syllabus import find_lesson


longest = here_run.MOST_SECONDS


def told(judge, name, only="", seconds=longest):
    here_run.MOST_SECONDS = float(seconds)
    began = time.perf_counter()
    found = graded_here(judge, parse_submission(name, Path("/folder", name).read_bytes()), only and [only] or None)
    seconds = time.perf_counter() - began
    return {one.name: [one.status, one.points, one.message, seconds] for one in found}


def of(one):
    return one[0]


everything = []
for lesson, those in itertools.groupby((one.split(":") for one in asked), of):
    names = [name for _, *name in those]
    everything += with_judge(find_lesson(lesson), lambda judge: [told(judge, *one) for one in names])
print(json.dumps(everything))
`);
} catch (error) {
  console.error(error.message); // without the line of Pyodide that it comes from, which is the whole program
  process.exitCode = 1;
} finally {
  fs.rmSync(home, { recursive: true, force: true });
}
