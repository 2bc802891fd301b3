// Beside the map, one device: why it is where it is, and how to talk to it.

import { foreign, h, keyed, setLink, setShown, setText } from "./dom.js";
import { commandLine, longText, setLongText } from "./text.js";
import { distance, setState, stateTag } from "./words.js";

/** A panel that `close` closes; its update gets the row, or null where there is none. */
export function createDevicePanel(close) {
  const heading = h("h2", { tabindex: "-1" }, foreign(""));
  const state = stateTag("unknown");
  const said = longText("", "p");
  const facts = h("dl", { class: "facts" });
  const instructions = h("ul", { class: "instructions" });
  const title = h("h3", {}, "Instructions");
  const curl = h("div", { class: "curl" });
  const link = h("a", {}, "Conditions, events, history");
  const body = h("div", {}, h("p", { class: "device-state" }, state), said, facts, title, instructions, curl, h("p", {}, link));
  const missing = h("p", { class: "empty" }, "There is no such device any more.");
  const button = h("button", { type: "button", class: "quiet", click: close, "aria-label": "Close the device" }, "Close");
  const element = h("section", { class: "card device", "aria-label": "Device", hidden: "" }, h("div", { class: "device-head" }, heading, button), missing, body);
  element.addEventListener("keydown", (event) => event.key === "Escape" && close());
  const view = { element, heading, state, said, facts, title, instructions, curl, link, body, missing, shown: null };
  view.update = (row, id, ready) => update(view, row, id, ready);
  return view;
}

function update(view, row, id, ready) {
  setShown(view.element, Boolean(id) && ready);
  if (!id || !ready) {
    view.shown = id ? view.shown : null;
    return;
  }
  setShown(view.body, row !== null);
  setShown(view.missing, row === null);
  setText(view.heading.firstChild, id);
  if (row) updateDevice(view, row);
  if (view.shown !== id) {
    view.shown = id;
    view.heading.focus({ preventScroll: true });
    view.element.scrollIntoView({ block: "nearest" });
  }
}

function updateDevice(view, row) {
  setState(view.state, row.state);
  setLongText(view.said, row.sentence);
  const facts = [["Phase", row.phase], ["Why here", row.reason], ["Placement", row.kind], ["Node", row.node || "none yet"], ["Node before", row.previous_node], ["Distance", distance(row.distance)], ["Link", row.link_state], ["Protocol", row.protocol], ["SKU", row.sku], ["Labels", Object.entries(row.labels ?? {}).map(([name, value]) => `${name}=${value}`).join(", ")]];
  keyed(view.facts, facts.filter(([, value]) => value !== null && value !== undefined && value !== ""), ([title]) => title,
    ([title]) => h("div", { "data-fact": title }, h("dt", {}, title), h("dd", {}, longText(""))), (element, [, value]) => setLongText(element.children[1].firstChild, value));
  const names = row.instructions ?? [];
  setShown(view.title, names.length > 0);
  keyed(view.instructions, names, (name) => name, () => h("li", {}, h("code", {}, foreign(""))), (element, name) => setText(element.firstChild.firstChild, name));
  if (view.curl.dataset.text !== (row.curl ?? "")) {
    view.curl.dataset.text = row.curl ?? "";
    view.curl.replaceChildren(...(row.curl ? [commandLine(row.curl)] : []));
  }
  setLink(view.link, row.link);
}
