// Finds the sections of the book that match a query, with Sphinx's stop words and stemmer.
import MiniSearch from "minisearch";

const LISTS = /^(objectives|exercises|next up|interview questions|checkpoint questions|research hooks|key takeaways|bibliography)$/i;
const ASKING = "can could did do does get got how i me my should what when where which who why you".split(" "); // common in questions, not in the text
const RANKED = 60; // sections that are ranked by their sentences

// `rows`: [page, anchor, title, titles above, text]. `stem` returns the stem of a word.
export class Sections {
  constructor(rows, stem, leftOut) {
    this.rows = rows;
    const empty = new Set([...leftOut, ...ASKING]);
    const roots = new Map(); // a cache, because stemming takes most of the indexing time
    this.term = (word) => {
      const small = word.toLowerCase();
      if (!roots.has(small)) roots.set(small, empty.has(small) ? null : stem(small));
      return roots.get(small);
    };
    this.index = new MiniSearch({ fields: ["title", "above", "text"], processTerm: this.term });
    this.index.addAll(rows.map(([, , title, above, text], id) => ({ id, title, above: above.join(" "), text })));
    this.known = new Set(roots.values());
  }

  // Sections with all of the words, best first; then those with some of them. `terms`: the stems found in each.
  find(question, most = 30) {
    const phrase = question.trim().toLowerCase();
    const asked = new Set(this.words(question).map(([, , root]) => root).filter(Boolean));
    const options = {
      boost: { title: 4, above: 1.5 },
      prefix: (term) => term.length > 3,
      fuzzy: (term) => (term.length > 4 && !this.known.has(term) ? 0.2 : false), // a word that is not in the book is taken as a typo
      weights: { prefix: 0.3, fuzzy: 0.15 },
      boostDocument: (id) => this.weight(id),
    };
    const all = this.index.search(question, { ...options, combineWith: "AND" });
    const seen = new Set(all.map(({ id }) => id));
    const some = this.index.search(question, options).filter(({ id }) => !seen.has(id));
    return [...this.closest(all, asked, phrase), ...this.closest(some, asked, phrase)].slice(0, most).map(({ id, terms }) => {
      const [page, anchor, title, above, text] = this.rows[id];
      return { page, anchor, title, above, text, phrase, terms: new Set(terms), whole: seen.has(id) };
    });
  }

  // Lists and the front page mention much but explain little, so they rank low; a chapter's beginning ranks high.
  weight(id) {
    const [page, , title, above] = this.rows[id];
    if (page === "index") return 0.15;
    if (LISTS.test(title) || above.some((one) => LISTS.test(one))) return 0.3;
    return above.length ? 1 : 1.5;
  }

  // Rank sections higher if the words are in one sentence, and more so if the whole phrase is.
  closest(found, asked, phrase) {
    const near = ({ id, score }) => score * (1 + this.best(this.rows[id][4], asked, phrase).worth / asked.size);
    return found.slice(0, RANKED).map((one) => [near(one), one]).sort(([one], [other]) => other - one).map(([, one]) => one);
  }

  // The words of a text: [from, to, stem].
  words(text) {
    return [...text.matchAll(/[^\s\p{P}]+/gu)].map((word) => [word.index, word.index + word[0].length, this.term(word[0])]);
  }

  // Split a text into pieces, with matching words as { mark }.
  marked(text, terms) {
    const pieces = [];
    let at = 0;
    for (const [from, to, root] of this.words(text)) {
      if (!terms.has(root)) continue;
      pieces.push(text.slice(at, from), { mark: text.slice(from, to) });
      at = to;
    }
    return [...pieces, text.slice(at)].filter((piece) => piece !== "");
  }

  // The sentence, or line of code, with the most words; containing `phrase` counts twice as much as all of them.
  best(text, terms, phrase) {
    let best = { worth: -1 };
    for (const [at, sentence] of text.split(/\n|(?<=[.?!]) (?=[^a-z])/).entries()) {
      const found = new Set(this.words(sentence).map(([, , root]) => root).filter((root) => terms.has(root)));
      const worth = found.size + (phrase && sentence.toLowerCase().includes(phrase) ? 2 * terms.size : 0);
      if (worth > best.worth) best = { found, sentence, at, worth };
    }
    return best;
  }

  // The best sentence, and the best one for the words that it lacks.
  excerpt(text, terms, phrase) {
    const first = this.best(text, terms, phrase);
    const second = this.best(text, new Set([...terms].filter((term) => !first.found.has(term))));
    const shown = second.worth > 0 ? [first, second].sort((one, other) => one.at - other.at) : [first];
    return shown.map(({ sentence }) => this.cut(sentence, terms, 260 / shown.length)).join(" … ").replace(/… …/g, "…");
  }

  // A sentence, cut around its first matching word if it is too long.
  cut(sentence, terms, long) {
    if (sentence.length <= long) return sentence;
    const first = this.words(sentence).find(([, , root]) => terms.has(root))?.[0] ?? 0;
    const from = first < long / 2 ? 0 : sentence.indexOf(" ", Math.min(first - long / 3, sentence.length - long)) + 1;
    const to = from + long >= sentence.length ? sentence.length : sentence.lastIndexOf(" ", from + long);
    return `${from ? "… " : ""}${sentence.slice(from, to)}${to < sentence.length ? " …" : ""}`;
  }
}
