// Sanitises the SVG that a cell has drawn: only shapes and text are copied into new elements, within limits. Scripts,
// handlers, addresses and animations are dropped.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title"]);
const MOST = { letters: 1_000_000, shapes: 5_000, levels: 30, size: 4_000 };

// Allowed values, by attribute. None may contain a backslash, with which CSS could escape `url(`.
const numbers = /^[\d\s.,eE+\-%]*(?:px|em)?$/;
const colour = /^(?:[a-zA-Z]+|#[\da-fA-F]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/]*\)|var\(--[\w-]+\)|color-mix\([\w\s#%.,-]*\))$/;
const word = /^[\w\s.,'"-]*$/;
const VALUES = new Map([
  ..."x y x1 y1 x2 y2 dx dy cx cy r rx ry width height viewBox points opacity fill-opacity stroke-opacity stroke-width stroke-dasharray font-size".split(" ").map((one) => [one, numbers]),
  ..."fill stroke".split(" ").map((one) => [one, colour]),
  ..."stroke-linecap stroke-linejoin font-family font-weight font-style text-anchor dominant-baseline".split(" ").map((one) => [one, word]),
  ["d", /^[\d\s.,eE+\-a-zA-Z]*$/],
  ["transform", /^[\d\s.,eE+\-a-zA-Z()]*$/],
  ["role", /^img$/],
  ["aria-label", /^/],
]);

function copy(from, left, level = 0) {
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of from.attributes) if (VALUES.get(name)?.test(value)) to.setAttribute(name, value);
  for (const one of from.childNodes) {
    if (one.nodeType === Node.TEXT_NODE) to.append(one.data);
    else if (one.namespaceURI === SVG && SHAPES.has(one.localName) && level < MOST.levels && left.shapes-- > 0) to.append(copy(one, left, level + 1));
  }
  return to;
}

/* The picture in a scrolling box; null if the text is not SVG or is too long. */
export function drawing(text) {
  if (text.length > MOST.letters || text.includes("<!ENTITY")) return null; // entities can expand a short text to millions of characters
  // parsed into a separate document: its scripts do not run, nothing is fetched, and its nodes stay out of the page
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (found.localName !== "svg" || found.namespaceURI !== SVG) return null;
  const picture = copy(found, { shapes: MOST.shapes });
  for (const side of ["width", "height"]) if (parseFloat(picture.getAttribute(side)) > MOST.size) picture.setAttribute(side, MOST.size);
  picture.removeAttribute("transform"); // it stays in its box
  const box = document.createElement("div");
  box.className = "live-picture";
  box.append(picture);
  return box;
}
