// The editor's view of changes, loaded on its first use.
import { unifiedMergeView } from "@codemirror/merge";

export const from = (original) => unifiedMergeView({ original, mergeControls: false });
