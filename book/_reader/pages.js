// Pages of the book, fetched and parsed.
const fetched = new Map();

// A page's document; null if it cannot be read: a page opened from the disk may not read other pages.
export function bookPage(address) {
  if (location.protocol === "file:" || new URL(address).origin !== location.origin) return null;
  if (!fetched.has(address)) {
    const answer = fetch(address)
      .then(async (response) => (response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null))
      .catch(() => null)
      .then((found) => {
        if (!found) fetched.delete(address); // the network may be back the next time
        return found;
      });
    fetched.set(address, answer);
  }
  return fetched.get(address);
}
