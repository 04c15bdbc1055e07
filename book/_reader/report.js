// The dialog for reports: a text to add to, which a reader copies or takes to a new issue. Nothing is sent from here.
// Loaded by reports.js; `issue` is the address of a new issue with {title} and {text}, or "".
import { element } from "./element.js";

const MOST_SELECTED = 600, MOST_IN_ADDRESS = 6000; // characters, as encoded in the address; servers refuse longer addresses

// The section of a node, or the one at the top of the screen: "Its heading (#its-id)".
function sectionOf(node) {
  const within = (node?.nodeType === Node.ELEMENT_NODE ? node : node?.parentElement)?.closest("section[id]");
  const above = [...document.querySelectorAll("article section[id]")].filter((one) => one.getBoundingClientRect().top < innerHeight / 2).at(-1);
  const section = within ?? document.querySelector("section:target") ?? above;
  const heading = section?.querySelector(":scope > :is(h1, h2, h3, h4)")?.cloneNode(true);
  heading?.querySelectorAll(".headerlink, .katex-html").forEach((one) => one.remove());
  return heading ? `${heading.textContent.trim()} (#${section.id})` : "";
}

function textAbout({ page, version, text, node, exercise, status, message }) {
  const lines = exercise
    ? [`Exercise: ${exercise}`, `Version: ${version}`, `Status: ${status}`, "", "The message:", quoted(message)]
    : [`Page: ${page}`, `Section: ${sectionOf(node)}`, `Version: ${version}`, ...(text?.trim() ? ["", "The text:", quoted(text.trim().slice(0, MOST_SELECTED))] : [])];
  return `${lines.join("\n")}\n\n${ASKS}`;
}
const quoted = (text) => text.split("\n").map((line) => `> ${line}`).join("\n");

// As much of a text, encoded, as an address has room for. A text may have been cut in the middle of an emoji.
function encoded(text) {
  let found = "";
  for (const one of text) {
    const next = /^\p{Surrogate}$/u.test(one) ? "%EF%BF%BD" : encodeURIComponent(one);
    if (found.length + next.length > MOST_IN_ADDRESS) break;
    found += next;
  }
  return found;
}

async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch { // a page from the disk, or without https
    field.select();
    return document.execCommand("copy");
  }
}

window.reportMistake = (about) => {
  const name = about.exercise ? `This message of ${about.exercise} is wrong` : "Report a mistake";
  const before = document.activeElement;
  const field = element("textarea", { rows: 12, spellcheck: "false" });
  field.value = textAbout(about);
  const said = element("span", { role: "status" });
  const copy = element("button", { type: "button", onclick: async () => (said.textContent = (await copied(field)) ? "Copied." : "Press Ctrl+C to copy the marked text.") }, "Copy");
  const title = about.exercise ? `Message of ${about.exercise}` : `Mistake in ${about.page}`;
  const issue = about.issue && element("a", { target: "_blank", rel: "noopener" }, `Begin an issue at ${new URL(about.issue).host}`);
  const lead = () => issue && (issue.href = about.issue.replace("{title}", () => encodeURIComponent(title)).replace("{text}", () => encoded(field.value)));
  field.addEventListener("input", lead);
  const code = `\nMy code:\n\n${about.code ?? ""}\n`;
  const tick = element("input", { type: "checkbox", onchange: () => {
    field.value = tick.checked ? field.value + code : field.value.replace(code, () => "");
    lead();
  } });
  const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { class: "report-dialog", "aria-labelledby": "report-title" },
    element("h2", { id: "report-title" }, name),
    element("p", {}, issue ? "Nothing is sent from here. Add what is wrong, then take the text to a new issue, where you see it before you send it." : "Nothing is sent from here. Add what is wrong, copy the text, and send it to those who gave you the course."),
    element("label", {}, "The report", field),
    ...(about.code ? [element("label", { class: "report-code" }, tick, " Add my code to the report")] : []),
    element("p", { class: "report-tools" }, ...(issue ? [issue] : []), copy, close, said),
  );
  dialog.addEventListener("close", () => { dialog.remove(); before?.focus(); });
  lead();
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
};
