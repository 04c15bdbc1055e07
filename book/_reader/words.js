// Words that several modules need.
export const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
// The short name of a chapter, such as ch06; other pages keep their name.
export const shortOf = (page) => (/^ch\d\d_/.test(page) ? page.slice(0, 4) : page);
