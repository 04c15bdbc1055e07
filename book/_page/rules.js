// What holds for all exercises of a chapter: an exercise's fold gets a copy of the box above the first exercise.
export function rulesIn(fold) {
  fold.addEventListener("toggle", () => {
    const box = document.querySelector(".exercise-rules");
    if (!fold.open || !box || fold.querySelector(".exercise-rules-copy")) return;
    const copy = box.cloneNode(true);
    copy.className = "exercise-rules-copy";
    copy.querySelector(".page-head")?.remove(); // the fold's summary says it
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
    for (const button of copy.querySelectorAll("button")) button.remove(); // of the copied code: their script knows only the box's
    fold.querySelector("p").replaceWith(copy);
  });
}
