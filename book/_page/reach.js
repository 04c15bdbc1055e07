// Fixes of the theme for readers who use a keyboard or a screen reader.
const WIDE = ".katex-display, figure, .pst-scrollable-table-container, .highlight pre, .cell_output, .cell_output pre, .cell_output .text_html > *, .exercise-card, .exercise-card pre";

// Make elements focusable while they scroll horizontally, so that keys can scroll them.
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

// Remove accessible names that differ from the visible text, and hide the theme switch's icons, since it has its own name.
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
  for (const late of document.querySelectorAll(".theme-switch-button")) // its icons are inserted last
    new MutationObserver(named).observe(late, { childList: true, subtree: true });
  const page = document.querySelector("article.bd-article, main");
  if (page) new ResizeObserver(() => reachable()).observe(page);
}
