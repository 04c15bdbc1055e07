/* What all experiments share: elements of HTML and SVG, and room for a text that changes. */

function builder(create) {
  return (tag, attributes = {}, ...children) => {
    const element = create(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
}
const html = builder((tag) => document.createElement(tag));
const svg = builder((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));

/* Reserves room below the picture for the longest of these sentences, so that nothing jumps. */
function reserve(said, sentences) {
  const ruler = html("p", { class: "said ruler", "aria-hidden": "true" });
  said.after(ruler);
  ruler.style.width = `${said.clientWidth}px`;
  const heights = sentences.map((parts) => {
    ruler.replaceChildren(...parts);
    return ruler.offsetHeight;
  });
  ruler.remove();
  said.style.minHeight = `${Math.max(...heights)}px`;
}

