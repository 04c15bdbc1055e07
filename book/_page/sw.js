// Service worker that caches the book and its Python for use offline. Each build has its VERSION, and a new one a new cache.
const NAME = `backprop-book-${VERSION}`;
const FOR_GOOD = /\/_static\/page\/python-[\d.]+\//; // addresses with a version never change

addEventListener("install", () => skipWaiting());

addEventListener("activate", (event) => {
  const old = async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith("backprop-book-") && name !== NAME).map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(old());
});

// Cache the addresses that a page loaded before this service worker was active.
addEventListener("message", (event) => {
  const add = async () => {
    const cache = await caches.open(NAME);
    for (const address of event.data.keep ?? []) {
      if (await cache.match(address)) continue;
      await cache.add(address).catch(() => {});
    }
    event.source?.postMessage({ kept: true });
  };
  event.waitUntil(add());
});

async function kept(request) {
  const found = await (await caches.open(NAME)).match(request, { ignoreSearch: request.mode === "navigate" });
  if (!found) throw new TypeError("not kept");
  return found;
}

async function fetched(request, wait) {
  const answer = await fetch(request);
  if (answer.ok && answer.status === 200) {
    const copy = answer.clone();
    // if the disk is full, the page gets its answer all the same
    wait(caches.open(NAME).then((cache) => cache.put(request, copy)).catch(() => {}));
  }
  return answer;
}

const escaped = (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

// The answer for a page that is not cached: says so and lists the pages that are.
async function notHere(error, request) {
  if (request.mode !== "navigate") throw error;
  const pages = (await (await caches.open(NAME)).keys()).map(({ url }) => url.split(/[?#]/)[0]).filter((url) => url.endsWith(".html"));
  const links = [...new Set(pages)].sort().map((url) => `<li><a href="${escaped(url)}">${escaped(url.split("/").at(-1).replace(/\.html$/, ""))}</a></li>`);
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>No network</title><style>:root { color-scheme: light dark } body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 36rem; padding: 0 1rem }</style>
<h1>No network</h1><p>This page was never opened in this browser, so it is not kept here. These are, and their exercises and code work:</p><ul>${links.join("")}</ul></html>`;
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  return new Response(text, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy } });
}

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(registration.scope)) return;
  const wait = (promise) => event.waitUntil(promise);
  const ways = FOR_GOOD.test(request.url)
    ? () => kept(request).catch(() => fetched(request, wait))
    : () => fetched(request, wait).catch((error) => kept(request).catch(() => { throw error; }));
  event.respondWith(ways().catch((error) => notHere(error, request)));
});
