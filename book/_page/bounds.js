// Checks for values that other people may have written. Each returns the value, or throws `Nonsense`.
export class Nonsense extends Error {}
export const refuse = (what) => { throw new Nonsense(what); };

export const text = (most) => (value) => (typeof value === "string" && value.length <= most ? value : refuse(`text of at most ${most}`));
export const cut = (most) => (value) => (typeof value === "string" ? value.slice(0, most) : refuse("text")); // returns the beginning
export const matching = (pattern) => (value) => (typeof value === "string" && pattern.test(value) ? value : refuse("text of a form"));
export const number = (least, most) => (value) => (typeof value === "number" && value >= least && value <= most ? value : refuse("number"));
export const whole = (least, most) => (value) => (Number.isInteger(value) && value >= least && value <= most ? value : refuse("integer"));
export const whether = (value) => (typeof value === "boolean" ? value : refuse("true or false"));
export const oneOf = (values) => (value) => (values.includes(value) ? value : refuse("one of a few"));
export const or = (other, check) => (value) => (value === undefined || value === null ? other : check(value));
export const maybe = (check) => or(null, check);
export const list = (check, most) => (value) => (Array.isArray(value) && value.length <= most ? Array.from(value, (one) => check(one)) : refuse("list"));
export const plain = (value) => (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype ? value : refuse("record"));
export const that = (is) => (value) => (is(value) ? value : refuse("another value"));
export const record = (fields) => (value) => {
  plain(value);
  return Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check(Object.hasOwn(value, name) ? value[name] : undefined)]));
};
export const byName = (name, check, most) => (value) => {
  const entries = Object.entries(plain(value));
  return new Map(entries.length <= most ? entries.map(([key, one]) => [name(key), check(one)]) : refuse("fewer names"));
};
