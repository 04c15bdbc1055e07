// Render formulas: read one JSON request per line from stdin, and answer each with one JSON line. Ends with its input.
// Usage: node katex_prerender.js FOLDER, where FOLDER contains katex.js.
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
