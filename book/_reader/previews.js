// Previews of links in the text. Resting the pointer on a link or focusing it with the keyboard opens its preview; Escape,
// or leaving both link and preview, closes it. Touch follows the link as usual.
import { element } from "./element.js";
import { copies, glimpse } from "./glimpse.js";
import { bookPage } from "./pages.js";

const LINKS = "article a.reference.internal[href]:not(.sd-stretched-link)";
const TERMS = 'a[href*="#term-"]';
const REST = 250; // ms on a link before it opens
const GRACE = 300; // ms for moving the pointer from the link into the preview
const GAP = 6; // px between link and preview
const EDGE = 8; // px to the window's edges

const here = () => location.href.split("#")[0];
// A page of the book; null if it cannot be read.
const page = (address) => (address === here() ? document : bookPage(address));

const inSight = (one) => {
  const { top, bottom, height } = one.getBoundingClientRect();
  return height > 0 && top >= 0 && bottom <= innerHeight;
};

class Preview {
  constructor() {
    this.box = element("div", { class: "preview bd-content bd-article", id: "preview", role: "tooltip", hidden: true });
    this.link = null; // the link whose preview is open or about to open
    this.timer = 0;
    this.box.addEventListener("pointerenter", () => clearTimeout(this.timer));
    this.box.addEventListener("pointerleave", () => this.leave());
    this.box.addEventListener("load", () => this.place(), true); // a picture's size is known now
    document.querySelector("main").append(this.box); // not the body: content should be inside a landmark
  }

  // `y`: the pointer's position, because a link may wrap over two lines.
  approach(link, y = null, rest = REST) {
    if (link === this.link) {
      if (!this.box.hidden) clearTimeout(this.timer); // back from the preview, or on its way there
      return;
    }
    this.close();
    this.link = link;
    this.y = y;
    const address = link.href.split("#")[0];
    this.timer = setTimeout(async () => {
      const found = await page(address);
      if (found && link === this.link && this.box.hidden) this.open(found, address);
      else if (!found && !rest) location.assign(link.href); // tapped, and the glossary cannot be read from here
    }, rest);
  }

  open(found, address) {
    const id = decodeURIComponent(this.link.hash.slice(1));
    const elements = glimpse(found, id);
    if (found === document && elements.some(inSight)) return; // the target is visible already
    const shown = copies(elements, address);
    if (!shown.length) return;
    this.box.replaceChildren(...shown);
    this.box.hidden = false;
    this.link.setAttribute("aria-describedby", "preview");
    this.place();
  }

  // Place the preview below the link's line if there is room, else above it.
  place() {
    if (this.box.hidden) return;
    const lines = [...this.link.getClientRects()];
    const line = lines.find(({ top, bottom }) => this.y !== null && top <= this.y && this.y <= bottom) ?? lines[0];
    if (!line || line.bottom < 0 || line.top > innerHeight) return this.close();
    const { style } = this.box;
    style.maxHeight = "";
    const wide = document.documentElement.clientWidth;
    const { width, height } = this.box.getBoundingClientRect();
    const below = innerHeight - line.bottom - GAP - EDGE;
    const above = line.top - GAP - EDGE;
    const under = height <= below || below >= above;
    const tall = Math.min(height, under ? below : above);
    style.maxHeight = `${tall}px`;
    style.left = `${Math.max(EDGE, Math.min(line.left, wide - width - EDGE))}px`;
    style.top = `${under ? line.bottom + GAP : line.top - GAP - tall}px`;
    this.box.classList.toggle("cut", this.box.scrollHeight > this.box.clientHeight + 1);
  }

  leave() {
    clearTimeout(this.timer);
    if (this.box.hidden) this.link = null;
    else this.timer = setTimeout(() => this.close(), GRACE);
  }

  close() {
    clearTimeout(this.timer);
    this.link?.removeAttribute("aria-describedby");
    this.link = null;
    this.box.hidden = true;
    this.box.replaceChildren();
  }

  // Close, and stay closed until the link is hovered or focused again.
  dismiss() {
    const { link } = this;
    this.close();
    this.link = link;
  }
}

export function previews() {
  if (!document.querySelector(LINKS)) return;
  const preview = new Preview();
  const linkOf = (target) => (target instanceof Element ? target.closest(LINKS) : null);
  document.addEventListener("pointerover", ({ target, pointerType, clientY }) => {
    const link = linkOf(target);
    if (link && pointerType !== "touch") preview.approach(link, clientY);
  });
  document.addEventListener("pointerout", ({ target, relatedTarget, pointerType }) => {
    const link = linkOf(target);
    if (link && pointerType !== "touch" && link === preview.link && !link.contains(relatedTarget)) preview.leave();
  });
  document.addEventListener("focusin", ({ target }) => {
    if (linkOf(target) === target && target.matches(":focus-visible")) preview.approach(target);
  });
  document.addEventListener("focusout", ({ target }) => target === preview.link && preview.leave());
  document.addEventListener("pointerdown", ({ target, pointerType }) => {
    if (pointerType === "touch" && !preview.box.contains(target) && linkOf(target) !== preview.link) preview.close();
  });
  document.addEventListener("click", (event) => {
    const link = linkOf(event.target);
    if (event.pointerType === "touch" && link?.matches(TERMS) && link !== preview.link) {
      event.preventDefault();
      preview.approach(link, event.clientY, 0);
    } else if (link) preview.close();
  });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && preview.dismiss());
  addEventListener("scroll", () => preview.place(), { passive: true });
  addEventListener("resize", () => preview.place());
}
