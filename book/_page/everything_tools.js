// The buttons "Save everything" and "Load everything", and the place where they say what they did.
import { element } from "../_reader/element.js";
import { chooser, loadPlanned } from "./loading.js";

// What few readers use at each visit is fetched when they do.
export async function fetched(part) {
  try { return await part(); } catch { throw new Error("A part of this page could not be fetched: is there a network?"); }
}
const all = () => fetched(() => import("./everything.js"));

export function everythingTools(words = "") {
  const said = element("span", { role: "status", class: "page-quiet" });
  const place = element("div");
  const tell = async (work) => {
    said.textContent = "";
    try { said.textContent = (await work()) ?? ""; } catch (error) { said.textContent = error.message; }
  };
  const save = async () => (await all()).saveEverything();
  const button = element("button", { type: "button", class: "page-button page-quiet", onclick: () => tell(save) }, "Save everything");
  const load = chooser("Load everything", ".json,application/json", async (file) => loadPlanned(place, await (await all()).planOf(file)), tell);
  return [element("p", { class: "page-everything" }, words, button, " ", ...load, " ", said), place];
}
