// Highlights the current section in the table of contents at the side, and expands it.
export function followContents() {
  const links = new Map();
  for (const link of document.querySelectorAll(".page-toc a[href^='#']")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section, link);
  }
  let waiting = false;
  const look = () => {
    waiting = false;
    const passed = [...links.keys()].filter((section) => section.getBoundingClientRect().top < 140);
    const here = passed.at(-1);
    for (const [section, link] of links) {
      link.classList.toggle("here", Boolean(here) && section.contains(here));
      if (section === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const link = links.get(here);
    const side = link?.closest(".bd-sidebar-secondary");
    if (side && side.scrollHeight > side.clientHeight) side.scrollTop = link.offsetTop - side.clientHeight / 2;
  };
  if (!links.size) return;
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(look);
    waiting = true;
  }, { passive: true });
  look();
}
