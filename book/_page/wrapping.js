// The editor's long lines go on below their own indentation, as in code that is shown (shown.js).
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";
import { hanging } from "./shown.js";

const lineOf = (columns) => Decoration.line({ attributes: { class: "page-code", style: `--columns: ${columns}` } });

function decorated({ state: { doc }, visibleRanges }) {
  const found = new RangeSetBuilder();
  for (const { from, to } of visibleRanges) {
    for (let at = doc.lineAt(from); ; at = doc.line(at.number + 1)) {
      found.add(at.from, at.from, lineOf(hanging(at.text)));
      if (at.to >= to || at.number === doc.lines) break;
    }
  }
  return found.finish();
}

export const wrapping = [
  EditorView.lineWrapping,
  ViewPlugin.define((view) => ({
    decorations: decorated(view),
    update(change) {
      if (change.docChanged || change.viewportChanged) this.decorations = decorated(change.view);
    },
  }), { decorations: (one) => one.decorations }),
];
