// Loads a file: says before what it would replace, and lets the reader choose. A plan is { words, conflicts, commit(keep) }:
// `conflicts` names the reader's texts that the file has, too, and `commit` writes all or throws.
import { element } from "../_reader/element.js";

const SHOWN = 12; // names in a sentence

function listed(names) {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(", ")} and ${more} more` : names.join(", ");
}

// Ask in `place`; resolves with the value of the button pressed. Another question, or another file, cancels this one.
let withdraw = () => {};
function ask(place, words, choices) {
  withdraw();
  return new Promise((done) => {
    const end = (value) => {
      withdraw = () => {};
      place.replaceChildren();
      done(value);
    };
    withdraw = () => end(null);
    const buttons = choices.map(([text, value]) => element("button", { type: "button", class: "page-button", onclick: () => end(value) }, text));
    place.replaceChildren(element("div", { class: "page-ask", role: "group", "aria-label": "Load a file" }, element("p", {}, words), ...buttons));
    buttons[0].focus();
  });
}

export async function loadPlanned(place, plan) {
  if (!plan.conflicts.length) return plan.commit(false);
  const choice = await ask(place, `${plan.words} Loading it would replace your version of: ${listed(plan.conflicts)}.`, [
    ["Keep mine where they differ", "keep"], ["Replace", "replace"], ["Load nothing", null],
  ]);
  return choice === null ? "Nothing was loaded." : plan.commit(choice === "keep");
}

// A hidden field for a file, and a button that opens it. `work` gets the file and returns words, or throws an Error.
export function chooser(words, accept, work, tell) {
  const file = element("input", { type: "file", accept, hidden: true, "aria-label": words });
  file.addEventListener("change", () => tell(async () => {
    withdraw();
    const [chosen] = file.files;
    file.value = ""; // so that the same file can be chosen again
    return work(chosen);
  }));
  return [element("button", { type: "button", class: "page-button page-quiet", onclick: () => file.click() }, words), file];
}

export function saveFile(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
