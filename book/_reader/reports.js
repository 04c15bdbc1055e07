// "Report a mistake" at a page's foot, and "This message is wrong" below a card: the dialog is loaded when it is asked for.
import { element } from "./element.js";

let loading;
const load = (from) => (loading ??= new Promise((done, fail) => {
  document.head.append(element("script", { src: new URL("report.js", from), onload: done, onerror: () => { loading = null; fail(); } }));
}));

// The selected text of the page's article, with the section that it begins in.
function selected() {
  const selection = getSelection(), node = selection.anchorNode;
  const within = (node?.nodeType === Node.ELEMENT_NODE ? node : node?.parentElement)?.closest("article");
  return within ? { text: selection.toString(), node } : { text: "" };
}

export function reports() {
  const plain = document.querySelector(".report");
  const from = document.querySelector("script[src*='reader.js']")?.src;
  if (!plain || !from) return;
  const { page, version, issue } = plain.dataset;
  const said = element("span", { role: "status" });
  const open = (about) => load(from).then(() => window.reportMistake({ page, version, issue, ...about }), () => (said.textContent = " The dialog cannot be loaded: try again when you are online."));
  let before; // a press of the pointer may end the selection
  const button = element("button", {
    type: "button", class: "report-button", onpointerdown: () => (before = selected()),
    onclick: () => { open(before ?? selected()); before = null; },
  }, "Report a mistake");
  plain.replaceWith(button, said);
  document.addEventListener("backprop:report", ({ detail }) => open(detail));
}
