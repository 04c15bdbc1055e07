// Limits for files that a page loads, and for messages from Python.

// In characters, except `cells` and `hints`. A browser gives all pages of the book together five million, so one loaded file must not
// use up the space of other chapters. Texts that Load replaces are kept too, at most as much again.
export const MOST = { answer: 50_000, cells: 200, own: 200_000, loaded: 250_000, everything: 1_500_000, hints: 100, name: 200 };

export const LONGEST = 2_500_000; // characters of a message: a picture has up to a million, some of which JSON escapes
export const LETTERS = 4_000_000; // characters of all messages that answer one question
export const MOST_BYTES = 2 ** 26; // bytes of compiled bytecode, the only message that is not text

export const SHOWN = 100_000; // characters of a run's output that a page shows
export const PRINTED = 10_000; // characters of what an answer printed during a check
