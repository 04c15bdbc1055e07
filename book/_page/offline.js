// Registers a service worker, which caches the book for use offline, on the first use of Python. Pages also work without it,
// for example if a browser refuses it or the book is opened from a disk.
const ROOT = new URL("../../", import.meta.url);
const PATIENCE = 3000; // ms to wait for the registration
let begun;

export function keep() {
  begun ??= Promise.race([register(), new Promise((done) => setTimeout(done, PATIENCE))]).catch(() => {});
  return begun;
}

// Have the service worker fetch and cache these addresses.
export async function keepMore(addresses) {
  const registration = await navigator.serviceWorker?.getRegistration(ROOT);
  registration?.active?.postMessage({ keep: addresses });
}

async function register() {
  if (!("serviceWorker" in navigator)) return;
  await navigator.serviceWorker.register(new URL("sw.js", ROOT), { scope: ROOT.pathname });
  const { active } = await navigator.serviceWorker.ready;
  const used = performance.getEntriesByType("resource").map((entry) => entry.name);
  const own = [location.href.split("#")[0], ...used].filter((address) => address.startsWith(ROOT.href));
  active.postMessage({ keep: [...new Set(own)] });
  if (!navigator.serviceWorker.controller)
    await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
}
