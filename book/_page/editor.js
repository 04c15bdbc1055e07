// The editor, CodeMirror 6, loaded when a reader starts to edit.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { colours } from "./colours.js";
import { wrapping } from "./wrapping.js";

const difference = new Compartment();
const given = Annotation.define(); // marks texts that the page sets: storing them again could overwrite newer typing in another tab
const raised = Decoration.line({ class: "page-raised" });
const marking = StateEffect.define();
// The line that raised, until the text changes.
const marked = StateField.define({
  create: () => Decoration.none,
  update: (shown, { docChanged, effects, state }) => {
    const [effect] = effects.filter((one) => one.is(marking));
    if (!effect) return docChanged ? Decoration.none : shown;
    const there = effect.value !== null && effect.value <= state.doc.lines;
    return there ? Decoration.set([raised.range(state.doc.line(effect.value).from)]) : Decoration.none;
  },
  provide: (field) => EditorView.decorations.from(field),
});
// Quotes are not closed: after the three that end a docstring two more would be left.
const closing = Prec.high(EditorState.languageData.of(() => [{ closeBrackets: { brackets: ["(", "[", "{"] } }]));
const STUB = /raise NotImplementedError\(.*\)/; // selected at the start, so that typing replaces it

// `run` is called for Ctrl+Enter and Shift+Enter, `changed` with the text after each change.
export function open(parent, text, { label, run, changed }) {
  const act = () => (run(), true);
  const stub = STUB.exec(text);
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      selection: stub ? { anchor: stub.index, head: stub.index + stub[0].length } : undefined,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), closing,
        EditorState.tabSize.of(4), indentUnit.of("    "), python(), syntaxHighlighting(colours),
        difference.of([]), marked, wrapping,
        keymap.of([
          { key: "Mod-Enter", run: act }, { key: "Shift-Enter", run: act },
          ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab,
        ]),
        // tabindex: keys reach the editor anyway, but accessibility checkers of scrollable elements expect it
        EditorView.contentAttributes.of({ "aria-label": `${label}. Escape, then Tab, leaves the editor.`, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && !update.transactions.some((one) => one.annotation(given)) && changed(update.state.doc.toString())),
      ],
    }),
  });
  // On Android the editor acts on Enter and Backspace a frame later, for the sake of keyboards on the screen, so that a key
  // that follows at once acts before them. A keyboard with keys names the key in `code`, and needs no such delay.
  if (/Android/.test(navigator.userAgent)) parent.addEventListener("keydown", (event) => {
    if (event.code && !event.isComposing) event.synthetic = true; // the editor's word for: not to be delayed
  }, true);
  return {
    get text() { return view.state.doc.toString(); },
    set text(value) {
      if (value.replace(/\r\n?/g, "\n") !== this.text) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, annotations: given.of(true) });
    },
    async compare(original) {
      const shown = original === null ? [] : (await import("./difference.js")).from(original);
      view.dispatch({ effects: difference.reconfigure(shown) });
    },
    mark(line) { view.dispatch({ effects: marking.of(line ?? null) }); },
    focus() { view.focus(); },
  };
}
