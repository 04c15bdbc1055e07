// How much a page takes, of files and of Python.

// Characters, but for `cells`. A browser gives all pages of the book five million: no file that is loaded may take them
// from another chapter. What Load replaces is kept as well, and is at most as much again.
export const MOST = { answer: 50_000, cells: 200, own: 200_000, loaded: 250_000 };

export const LONGEST = 2_500_000; // characters of a message: a picture has a million, and JSON writes some of them as two
export const LETTERS = 4_000_000; // of all messages that answer one question
export const MOST_BYTES = 2 ** 26; // of what Python has compiled, the only message that is no text
