// Long texts, cut with the rest on demand (a message may have 100 KB), and texts to copy.

import { foreign, h, setShown, setText } from "./dom.js";

const SHORT = 280;

/** Foreign text of any length, the rest of it behind a button. */
export function longText(text, tag = "span") {
  const body = foreign("", { class: "long-text" });
  const more = h("button", { type: "button", class: "more", "aria-expanded": "false" }, "more");
  const element = h(tag, { class: "long" }, body, " ", more);
  more.addEventListener("click", () => {
    element.dataset.open = element.dataset.open === "true" ? "false" : "true";
    show(element);
  });
  setLongText(element, text);
  return element;
}

const texts = new WeakMap();

/** Set the text; whether it is open stays as it is. */
export function setLongText(element, text) {
  const value = text === null || text === undefined ? "" : String(text);
  if (texts.get(element) === value) return;
  texts.set(element, value);
  show(element);
}

function show(element) {
  const text = texts.get(element);
  const [body, more] = element.children;
  const long = text.length > SHORT;
  const open = element.dataset.open === "true";
  setText(body, long && !open ? `${text.slice(0, SHORT)}…` : text);
  setText(more, open ? "less" : `more (${text.length.toLocaleString("en")} characters)`);
  more.setAttribute("aria-expanded", String(open));
  setShown(more, long);
}


const SAID_MS = 2000;

/** A button that copies what `read` gives (a text, or a promise of one). */
export function copyButton(label, read, attributes = {}) {
  const button = h("button", { type: "button", class: "quiet", ...attributes }, label);
  const told = h("span", { role: "status", class: "visually-hidden" });
  button.addEventListener("click", async () => {
    const done = await copied(read);
    setText(button, done ? "Copied" : "Not copied");
    setText(told, done ? `${label}: copied` : `${label}: not copied`);
    setTimeout(() => {
      setText(button, label);
      setText(told, "");
    }, SAID_MS);
  });
  return h("span", { class: "copy" }, button, told);
}

async function copied(read) {
  try {
    await writeText(await read());
    return true;
  } catch {
    return false; // refused by the browser, or the text could not be had
  }
}

async function writeText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without TLS there is no clipboard: a selection still works.
  const area = h("textarea", { class: "visually-hidden", readonly: "" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
  return undefined;
}

/** A line for a terminal, with a button to copy it. */
export function commandLine(text) {
  const code = h("code", {}, text);
  return h("div", { class: "command" }, h("pre", { tabindex: "0" }, code), copyButton("Copy", () => code.textContent));
}
