// The names that the worker's global scope keeps once Python has started. A reader's code, or a classmate's in a loaded
// notebook, reaches the scope by `import js`, so names that send, fetch, store or start something are removed. This is the
// second line of defence: the worker's origin is opaque, and it inherits the page's policy.
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

// Remove all other names permanently: delete each name or, if a browser refuses that, set it to undefined.
export function confine() {
  for (let one = self; one && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const name of Object.getOwnPropertyNames(one)) {
      if (KEPT.has(name) && (one === self || !Object.hasOwn(self, name))) continue; // on prototypes, too: the worker's own `fetch` only hides the browser's
      try { delete one[name]; } catch { /* handled below */ }
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
