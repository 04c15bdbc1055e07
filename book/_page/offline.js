// A service worker keeps what is fetched, from the first time on that somebody asks for Python. A page without it works
// as well, as where a browser refuses it, or where the book is opened from a disk.
const ROOT = new URL("../../", import.meta.url);
const PATIENCE = 3000; // ms: nobody waits longer for what is only for later
let begun;

export function keep() {
  begun ??= Promise.race([register(), new Promise((done) => setTimeout(done, PATIENCE))]).catch(() => {});
  return begun;
}

// Fetch and keep what one will want when there is no network.
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
