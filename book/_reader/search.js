// The search page: lists matching sections, each with the best sentence. It also works from the disk.
import { element } from "./element.js";
import { Sections } from "./sections.js";

const TRY = ["vanishing gradients", "log_softmax backward", "gradcheck step size", "einsum"];

const marked = (pieces) => pieces.map((piece) => (piece.mark ? element("mark", {}, piece.mark) : piece));

function result(sections, { page, anchor, title, above, text, terms, phrase }) {
  const link = element("a", { href: `${page}.html${anchor && above.length ? `#${anchor}` : ""}` }, ...marked(sections.marked(title, terms)));
  const sentence = sections.marked(sections.excerpt(text, terms, phrase), terms);
  return element("li", {}, element("p", { class: "found-title" }, link),
    element("p", { class: "found-above" }, above.join(" › ")), element("p", { class: "found-words" }, ...marked(sentence)));
}

function nothing(question) {
  const examples = TRY.flatMap((one, at) => [at ? ", " : "", element("a", { href: `?q=${encodeURIComponent(one)}` }, one)]);
  return [
    element("p", {}, `Nothing in the book has “${question}”. Try fewer words, the name of a function or of an operation as code writes it, or the field’s English word for what you see.`),
    element("p", {}, "Some that lead somewhere: ", ...examples, "."),
  ];
}

function start() {
  const place = document.getElementById("search-results");
  const form = document.querySelector(".bd-search-container form");
  const field = form.querySelector("input");
  const said = element("p", { class: "found-count", role: "status" });
  const list = element("ol", { class: "found" });
  place.append(said, list);
  const stemmer = new Stemmer();
  const sections = new Sections(sectionsOfTheBook, (word) => stemmer.stemWord(word), new Set(stopwords));

  const answer = () => {
    const question = field.value.trim();
    const found = question ? sections.find(question) : [];
    const whole = found.filter((one) => one.whole).length;
    const count = whole ? `${whole === 30 ? "30 or more" : whole} section${whole === 1 ? "" : "s"} with all of it` : "No section has all of it; these have some";
    said.replaceChildren(...(!question ? [] : found.length ? [`${count}.`] : nothing(question)));
    list.replaceChildren(...found.map((one) => result(sections, one)));
  };
  const address = () => history.replaceState(null, "", field.value.trim() ? `?q=${encodeURIComponent(field.value.trim())}` : location.pathname);

  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { answer(); address(); }, 150);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    answer();
    address();
  });
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  answer();
}

start();
