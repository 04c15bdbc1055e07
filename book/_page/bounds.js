// Checks for values that other people may have written. Each returns the value, or throws `Nonsense`.
import { Nonsense } from "./messages.js";

const refuse = (what) => { throw new Nonsense(what); };
export const text = (most) => (value) => (typeof value === "string" && value.length <= most ? value : refuse(`text of at most ${most}`));
export const matching = (pattern) => (value) => (typeof value === "string" && pattern.test(value) ? value : refuse("text of a form"));
export const number = (least, most) => (value) => (typeof value === "number" && value >= least && value <= most ? value : refuse("number"));
export const whole = (least, most) => (value) => (Number.isInteger(value) && value >= least && value <= most ? value : refuse("integer"));
export const whether = (value) => (typeof value === "boolean" ? value : refuse("true or false"));
export const oneOf = (values) => (value) => (values.includes(value) ? value : refuse("one of a few"));
export const or = (other, check) => (value) => (value === undefined || value === null ? other : check(value));
export const list = (check, most) => (value) => (Array.isArray(value) && value.length <= most ? value.map((one) => check(one)) : refuse("list"));
const plain = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : refuse("record"));
export const that = (is) => (value) => (is(value) ? value : refuse("another value"));
export const record = (fields) => (value) =>
  Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check(Object.hasOwn(plain(value), name) ? value[name] : undefined)]));
export const byName = (pattern, check, most) => (value) => {
  const entries = Object.entries(plain(value));
  return new Map(entries.length <= most ? entries.map(([name, one]) => [matching(pattern)(name), check(one)]) : refuse("fewer names"));
};
