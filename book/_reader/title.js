// Copies of what a heading says, without its link.
export const titleOf = (heading) => [...heading.childNodes].filter((one) => !one.classList?.contains("headerlink")).map((one) => one.cloneNode(true));
