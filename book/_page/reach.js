// What the theme and its parts leave out for readers who use keys, or hear the page.
const WIDE = ".katex-display, figure, .pst-scrollable-table-container, .highlight pre, .cell_output, .cell_output pre, .exercise-card, .exercise-card pre";

// Whatever is wider than its place scrolls: keys are to reach it then, and pass it by otherwise.
export function reachable(within = document) {
  for (const one of within.querySelectorAll(WIDE)) {
    const scrolls = /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth;
    if (scrolls && !one.hasAttribute("tabindex")) {
      one.tabIndex = 0;
      one.dataset.reached = "";
    } else if (!scrolls && "reached" in one.dataset) {
      one.removeAttribute("tabindex");
      delete one.dataset.reached;
    }
  }
}

// Names that do not hold the words that are seen; the icons of the switch have one of their own.
function named() {
  for (const one of document.querySelectorAll("details.hide > summary[aria-label], .search-button-field[aria-label]"))
    one.removeAttribute("aria-label");
  for (const icon of document.querySelectorAll(".theme-switch-button svg")) {
    icon.querySelector("title")?.remove();
    icon.removeAttribute("aria-labelledby");
    icon.setAttribute("aria-hidden", "true");
  }
}

export function reach() {
  named();
  for (const late of document.querySelectorAll(".theme-switch-button")) // its icons are drawn after all else
    new MutationObserver(named).observe(late, { childList: true, subtree: true });
  const page = document.querySelector("article.bd-article, main");
  if (page) new ResizeObserver(() => reachable()).observe(page);
}
