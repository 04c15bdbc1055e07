// What the worker keeps of its global scope once Python has started. A reader's code, or a classmate's in a notebook that
// was loaded, reaches all of it by `import js`: so whatever sends, fetches, stores or starts something else goes.
// The worker's origin is opaque and the page's policy holds in it as well, so this is the second wall.
const LANGUAGE = (
  "Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error " +
  "AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis JSON Math " +
  "Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array " +
  "Uint8ClampedArray Float32Array Float64Array Float16Array DataView Map BigInt Set Iterator WeakMap WeakSet Proxy Reflect " +
  "FinalizationRegistry WeakRef DisposableStack AsyncDisposableStack decodeURI decodeURIComponent encodeURI " +
  "encodeURIComponent escape unescape eval isFinite isNaN SharedArrayBuffer Temporal WebAssembly"
).split(" ");
const NEEDED = (
  "self constructor console performance crypto onmessage onmessageerror addEventListener removeEventListener " +
  "dispatchEvent EventTarget Event MessageEvent ErrorEvent DOMException setTimeout clearTimeout setInterval clearInterval " +
  "queueMicrotask structuredClone atob btoa TextDecoder TextEncoder URL URLSearchParams AbortController AbortSignal " +
  "Response Headers ReadableStream Blob MessageChannel MessagePort fetch location"
).split(" ");
export const KEPT = new Set([...LANGUAGE, ...NEEDED]);

// Take all other names away for good: where a browser lets none be deleted, nothing is found under it.
export function confine() {
  for (let one = self; one && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) {
      if (KEPT.has(name)) continue;
      try { delete one[name]; } catch { /* it is found below */ }
    }
  }
  for (const name of names().filter((name) => !KEPT.has(name)))
    Object.defineProperty(self, name, { value: undefined, writable: false, configurable: false });
}

function names() {
  const found = new Set();
  for (let one = self; one && one !== Object.prototype; one = Object.getPrototypeOf(one))
    for (const name of Object.getOwnPropertyNames(one)) found.add(name);
  return [...found];
}
