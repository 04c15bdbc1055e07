// Render the formulas that come in on stdin, one JSON request a line; answer with one JSON line each. Ends with its input.
// Usage: node katex_prerender.js FOLDER, where FOLDER holds katex.js.
const path = require("path");
const katex = require(path.resolve(process.argv[2], "katex.js"));

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { formula, options } = JSON.parse(line);
  let answer;
  try {
    answer = { html: katex.renderToString(formula, options) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
