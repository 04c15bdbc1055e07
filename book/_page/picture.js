// A picture that a cell has drawn, as SVG. Of what Python hands over only shapes and texts get into the page: no script,
// no handler, no address.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title"]);
const LOOKS = new Set(
  ("width height viewBox x y x1 y1 x2 y2 dx dy cx cy r rx ry d points transform fill fill-opacity stroke stroke-width " +
    "stroke-opacity stroke-dasharray stroke-linecap stroke-linejoin opacity font-family font-size font-weight font-style " +
    "text-anchor dominant-baseline role aria-label").split(" "),
);

function copy(from) {
  const to = document.createElementNS(SVG, from.localName);
  for (const { name, value } of from.attributes) if (LOOKS.has(name) && !/url\(/i.test(value)) to.setAttribute(name, value);
  for (const one of from.childNodes) {
    if (one.nodeType === Node.TEXT_NODE) to.append(one.data);
    else if (one.namespaceURI === SVG && SHAPES.has(one.localName)) to.append(copy(one));
  }
  return to;
}

/* The picture in a box that scrolls sideways; null where the text is no SVG. */
export function drawing(text) {
  const found = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (found.localName !== "svg" || found.namespaceURI !== SVG) return null;
  const box = document.createElement("div");
  box.className = "live-picture";
  box.append(copy(found));
  return box;
}
