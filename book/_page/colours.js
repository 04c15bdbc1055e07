// The colours of Python code, for the editor and for code that is shown: the classes of the page's own code, which its
// stylesheet colours for both themes.
import { pythonLanguage } from "@codemirror/lang-python";
import { HighlightStyle } from "@codemirror/language";
import { highlightCode, tags } from "@lezer/highlight";
import { element } from "../_reader/element.js";

export const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], class: "page-k" },
  { tag: [tags.string, tags.special(tags.string)], class: "page-s" },
  { tag: tags.comment, class: "page-c" },
  { tag: [tags.number, tags.bool, tags.null], class: "page-n" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "page-f" },
]);

// The nodes of a text.
export function coloured(text) {
  const found = [];
  const put = (piece, classes) => found.push(classes ? element("span", { class: classes }, piece) : document.createTextNode(piece));
  highlightCode(text, pythonLanguage.parser.parse(text), colours, put, () => put("\n"));
  return found;
}
