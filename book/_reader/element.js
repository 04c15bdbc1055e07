// Create an element with attributes (names like `onclick` are listeners) and children.
export const element = (tag, attributes = {}, ...children) => {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) one.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) one.setAttribute(name, value === true ? "" : value);
  }
  one.append(...children);
  return one;
};

// Copies of an element's child nodes.
export const contentOf = (node) => [...node.cloneNode(true).childNodes];
