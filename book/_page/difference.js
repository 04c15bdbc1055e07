// What was changed, within the editor: loaded when somebody asks for it.
import { unifiedMergeView } from "@codemirror/merge";

export const from = (original) => unifiedMergeView({ original, mergeControls: false });
