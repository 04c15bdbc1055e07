// Questions and predictions as a text file that Anki imports: a card for each, with the options in front and the right ones,
// each with its reason, behind. https://docs.ankiweb.net/importing/text-files.html
const MATHS = "application/x-tex";
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// A formula for Anki's MathJax, which does not know the book's own commands: those that it uses are defined in it.
function formula(tex, macros) {
  const used = new Map();
  const look = (text) => {
    for (const [, name] of text.matchAll(/(\\[A-Za-z]+)/g)) {
      if (!Object.hasOwn(macros, name) || used.has(name)) continue;
      used.set(name, macros[name]);
      look(macros[name]);
    }
  };
  look(tex);
  const places = (body) => [...new Set(body.match(/#\d/g))].sort().join("");
  const defined = [...used].map(([name, body]) => `\\def${name}${places(body)}{${body}}`).join("");
  return `\\(${escaped(defined + tex)}\\)`;
}

// The content of an element as the HTML of a field: text, code and formulas alone.
function field(node, macros) {
  if (node.nodeType === Node.TEXT_NODE) return escaped(node.data);
  if (node.classList?.contains("katex")) return formula(node.querySelector(`annotation[encoding="${MATHS}"]`)?.textContent ?? node.textContent, macros);
  const inside = [...node.childNodes].map((one) => field(one, macros)).join("");
  if (node.localName === "code") return `<code>${inside}</code>`;
  if (node.localName === "pre") return `<pre>${inside}</pre>`;
  return ["p", "div", "li"].includes(node.localName) ? `${inside.trim()}<br>` : inside;
}

const letter = (at) => "ABCDEFGHIJ"[at] ?? String(at + 1);
const inALine = (html) => html.replace(/(?:<br>)+$/, "").trim().replace(/\r?\n/g, "<br>").replace(/\t/g, "    ");

// The file's text. `found`: [{ page, question: { question, lead, options, right, answers } }]; `macros`: the book's commands.
export function deck(found, macros) {
  const html = (node) => (node ? inALine(field(node, macros)) : "");
  const rows = found.map(({ page, question: { question, lead, options, right, answers } }) => {
    const lettered = options.map((one, at) => `${letter(at)}. ${html(one)}`);
    const behind = options.flatMap((_, at) => (right[at] ? [`${lettered[at]}<br>${html(answers[at])}`] : []));
    return [[html(question), ...lead.map(html), ...lettered].join("<br>"), behind.join("<br>"), `backprop ${page}`].join("\t");
  });
  return ["#separator:Tab", "#html:true", "#notetype:Basic", "#deck:Backpropagation by hand", "#tags column:3", ...rows].join("\n") + "\n";
}
