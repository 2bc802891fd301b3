// The edgeMap: nodes as boxes with their devices, or a map by coordinates; a device that moves is seen moving.

import { foreign, h, keyed, rowsOf, setAttribute, setLink, setShown, setText } from "./dom.js";
import { createDevicePanel } from "./edgemap_device.js";
import { layoutBoxes } from "./edgemap_layout.js";
import { createCoordinates } from "./edgemap_map.js";
import { cores, createBar, memory, updateBar } from "./figures.js";
import { filterLine, updateFilters } from "./filters.js";
import { query, setQuery, withQuery } from "./router.js";
import { topic } from "./store.js";
import { counted } from "./table.js";
import { copyButton } from "./text.js";
import { number, plural, setShape, setTime, simulatedTag, STATES, stateShape, stateTag, timeAgo } from "./words.js";

const MOVE_MS = 700;
const MARK_MS = 4000;
const BOXES_PER_FRAME = 8; // new ones: a page of ninety is drawn in a few frames, none of them long
const MOST_MOVES = 40; // at once: more is a flicker
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

export function createEdgemap() {
  const broken = h("button", { type: "button", class: "switch", "data-state": "broken", "aria-pressed": "false", click: () => setQuery({ broken: query("broken") ? "" : "1" }) }, stateShape("broken"), "only what is broken");
  const byPlace = h("button", { type: "button", class: "switch", "aria-pressed": "false", click: () => setQuery({ view: query("view") ? "" : "map" }) }, "by coordinates");
  const view = {
    title: "edgeMap",
    topics: ["edgemap"],
    broken,
    byPlace,
    filters: filterLine({ label: "Search devices", placeholder: "Search name, sku, protocol, node, label", states: false, extra: [broken, byPlace] }),
    summary: h("p", { class: "lead" }),
    boxes: h("ul", { class: "boxes" }),
    more: h("p", { class: "empty", hidden: "" }),
    empty: h("p", { class: "empty", hidden: "" }),
    coordinates: createCoordinates(),
    device: createDevicePanel(close),
    timeline: h("ol", { class: "timeline" }),
    quiet: h("p", { class: "empty" }, "No device has moved since the console looks. Stop a node, and its devices move here."),
    moves: h("p", { class: "visually-hidden", role: "log", "aria-label": "Moves" }),
    chips: new Map(),
    boxLimit: BOXES_PER_FRAME,
    opened: new Set(query("open").split(",").filter(Boolean)),
  };
  view.element = h("article", { class: "edgemap" }, h("h1", {}, "edgeMap"), view.summary,
    view.filters.element, legend(), view.empty,
    h("div", { class: "edgemap-body" }, h("div", { class: "edgemap-drawing" }, view.boxes, view.more, view.coordinates.element), view.device.element),
    h("section", { class: "card", "aria-label": "Moves and evacuations" }, h("h2", {}, "Moves and evacuations"), view.quiet, view.timeline), view.moves);
  view.update = () => update(view);
  return view;

  function close() {
    const chip = [...view.chips.values()].find((each) => each.getAttribute("aria-current") === "true");
    setQuery({ device: "" });
    chip?.focus();
  }
}

function legend() {
  const link = (kind, text) => h("span", { class: "legend-link" }, h("span", { class: "legend-line", "data-link": kind, "aria-hidden": "true" }), text);
  return h("div", { class: "legend" },
    h("span", { class: "legend-states" }, STATES.toReversed().map((state) => stateTag(state))),
    link("attached", "attached"), link("pending", "pending"), link("adopted", "adopted"),
    copyButton("Copy as text", textForm));
}

async function textForm() {
  const { text } = topic("edgemap").meta;
  if (typeof text === "string") return text;
  const answer = await fetch("/api/edgemap.txt");
  if (!answer.ok) throw new Error(`the console answers ${answer.status}`);
  return answer.text();
}

function update(view) {
  const edgemap = topic("edgemap");
  const nodes = rowsOf(edgemap, "node/");
  const devices = rowsOf(edgemap, "device/");
  const [text, onlyBroken, asMap] = [query("q"), query("broken") === "1", query("view") === "map"];
  view.opened = new Set(query("open").split(",").filter(Boolean));
  const layout = layoutBoxes(nodes, devices, { text, broken: onlyBroken, opened: view.opened });
  setAttribute(view.broken, "aria-pressed", String(onlyBroken));
  setAttribute(view.byPlace, "aria-pressed", String(asMap));
  updateFilters(view.filters, {}, edgemap.ready ? counted(layout.matched, devices.length, "device") : "Reading…");
  setText(view.summary, edgemap.ready && !edgemap.refused ? sentence(nodes, devices) : "");
  setShown(view.boxes, !asMap);
  setShown(view.coordinates.element, asMap);
  if (asMap) view.coordinates.update(nodes, layout.boxes.flatMap((box) => box.devices));
  else drawBoxes(view, layout);
  updateEmpty(view, edgemap, devices, layout);
  updateTimeline(view, edgemap.meta.timeline ?? []);
  view.device.update(edgemap.rows.get(`device/${query("device")}`) ?? null, query("device"), edgemap.ready);
}

function sentence(nodes, devices) {
  const lost = devices.filter((device) => device.state === "broken").length;
  const waiting = devices.filter((device) => !device.node).length;
  const down = nodes.filter((node) => node.state === "broken").length;
  const parts = [down && `${plural(down, "node")} down`, lost && `${plural(lost, "device")} broken`, waiting && `${number(waiting)} waiting for a node`].filter(Boolean);
  return `${plural(devices.length, "device")} on ${plural(nodes.length, "node")}: ${parts.length ? parts.join(", ") : "all in their places"}.`;
}

function updateEmpty(view, { ready, refused }, devices, layout) {
  setShown(view.empty, ready && layout.boxes.length === 0);
  const none = devices.length ? "No device is like that. Take away a filter to see the others." : "No device yet. Apply an EdgeDevice, and it appears on its node.";
  setText(view.empty, refused ? refused.reason || `The console answers ${refused.status}.` : none);
  setShown(view.more, layout.leftOut > 0 && query("view") !== "map");
  setText(view.more, `And ${plural(layout.leftOut, "more node")}: search for a name to see them. The broken ones are shown first.`);
}

// ── boxes ──

function drawBoxes(view, whole) {
  const layout = { ...whole, boxes: whole.boxes.slice(0, view.boxLimit) };
  if (layout.boxes.length < whole.boxes.length) {
    view.boxLimit += BOXES_PER_FRAME;
    requestAnimationFrame(() => view.element.isConnected && update(view));
  }
  const before = movedChips(view, layout);
  keyed(view.boxes, layout.boxes, (box) => box.key, createBox, (element, box) => updateBox(view, element, box));
  const drawn = new Set(layout.boxes.flatMap((box) => box.drawn.map((device) => device.key)));
  for (const key of view.chips.keys()) if (!drawn.has(key)) view.chips.delete(key);
  for (const [chip, rectangle] of before) animateMove(chip, rectangle);
}

/** The chips that stand on another node now, and where they stood. */
function movedChips(view, layout) {
  const moved = new Map();
  for (const box of layout.boxes) {
    for (const device of box.drawn) {
      const chip = view.chips.get(device.key);
      if (chip?.isConnected && chip.dataset.node !== box.key && moved.size < MOST_MOVES) moved.set(chip, chip.getBoundingClientRect());
    }
  }
  return moved;
}

function animateMove(chip, from) {
  const to = chip.getBoundingClientRect();
  chip.dataset.moved = "true";
  setTimeout(() => delete chip.dataset.moved, MARK_MS);
  if (CALM.matches) return;
  chip.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)`, zIndex: 5 }, { transform: "none", zIndex: 5 }], { duration: MOVE_MS, easing: "cubic-bezier(.3,.7,.2,1)" });
}

function createBox() {
  const head = h("div", { class: "box-head" }, stateShape("unknown"), h("h3", {}, h("a", {}, foreign(""))), simulatedTag(), h("span", { class: "numbers box-count" }));
  return h("li", { class: "box" }, head, h("p", { class: "box-why" }, foreign("")), h("div", { class: "meters" }, createBar("memory"), createBar("cpu")),
    h("ul", { class: "chips" }), h("ul", { class: "counts" }, STATES.toReversed().map((state) => h("li", { "data-state": state }, stateShape(state), h("span", { class: "numbers" }), h("span", { class: "count-word" }, state)))),
    h("a", { class: "box-open" }));
}

function updateBox(view, element, box) {
  const shown = [box.node, box.idle, box.devices.length, box.opened, location.search, ...Object.values(box.counts), ...box.drawn];
  if (element.shown?.length === shown.length && shown.every((each, at) => each === element.shown[at])) return;
  element.shown = shown;
  const [head, why, meters, chips, counts, open] = element.children;
  const { node, devices, drawn } = box;
  const state = node ? node.state : box.key ? "unknown" : "working";
  setAttribute(element, "data-state", state);
  setShape(head.children[0], state);
  setText(head.children[1].firstChild.firstChild, box.key || "waiting for a node");
  setLink(head.children[1].firstChild, box.key ? `/objects/core/v1/nodes/-/${encodeURIComponent(box.key)}` : null);
  setShown(head.children[2], Boolean(node?.simulated));
  setText(head.children[3], plural(devices.length, "device"));
  setText(why.firstChild, node ? node.sentence : box.key ? "this node is not in the cluster" : "no node fits yet; each device says why");
  setShown(why, state !== "well");
  setShown(meters, Boolean(node) && !box.idle);
  setAttribute(element, "data-idle", box.idle ? "true" : null);
  if (node) {
    updateBar(meters.children[0], node.memory, memory);
    updateBar(meters.children[1], node.cpu, cores);
  }
  keyed(chips, drawn, (device) => device.key, (device) => chipOf(view, device), updateChip);
  setShown(chips, drawn.length > 0);
  updateCounts(counts, box.counts, drawn.length < devices.length);
  updateOpen(view, open, box);
}

function updateCounts(list, counts, shown) {
  setShown(list, shown);
  for (const item of list.children) {
    setText(item.children[1], number(counts[item.dataset.state]));
    setAttribute(item, "data-none", counts[item.dataset.state] === 0 ? "true" : null);
  }
}

function updateOpen(view, link, { key, opened, drawn, devices }) {
  setShown(link, opened || drawn.length < devices.length);
  const others = new Set(view.opened);
  if (!others.delete(key)) others.add(key);
  setLink(link, withQuery({ open: [...others].join(",") }));
  const rest = devices.length - drawn.length;
  setText(link, opened ? (rest ? `Close (${plural(rest, "device")} more: search for them)` : "Close") : `Open ${plural(devices.length, "device")}`);
}

/** The chip of a device: the same element wherever it stands. */
function chipOf(view, device) {
  let chip = view.chips.get(device.key);
  if (!chip) {
    chip = h("li", { class: "chip" }, h("a", {}, stateShape("unknown"), foreign("", { class: "chip-name" }), h("bdi", { class: "chip-phase" })));
    chip.focus = () => chip.firstChild.focus();
    view.chips.set(device.key, chip);
  }
  return chip;
}

function updateChip(chip, device) {
  const [shape, name, phase] = chip.firstChild.children;
  setAttribute(chip, "data-node", device.node || "");
  setAttribute(chip, "data-state", device.state);
  setAttribute(chip, "data-link", device.link_state);
  setAttribute(chip, "data-key", device.key);
  const id = `${device.namespace}/${device.name}`;
  setAttribute(chip, "aria-current", query("device") === id ? "true" : null);
  setShape(shape, device.state);
  setText(name, device.name);
  setText(phase, chipWords(device).join(", "));
  setLink(chip.firstChild, withQuery({ device: id }));
}

/** What is not as usual: the phase where it is not well, the link where it is not attached. */
function chipWords({ phase, state, link_state: link }) {
  const words = [state === "well" ? "" : phase, link === "attached" ? "" : link].filter(Boolean).map((word) => String(word).toLowerCase());
  return [...new Set(words)];
}

// ── timeline ──

function updateTimeline(view, moves) {
  setShown(view.quiet, moves.length === 0);
  setShown(view.timeline, moves.length > 0);
  const rows = moves.map((move) => ({ ...move, key: `${move.time} ${move.device} ${move.to}` })).sort((one, other) => (one.time < other.time ? 1 : -1));
  keyed(view.timeline, rows, (row) => row.key, createMove, updateMove);
  const last = rows[0];
  if (last && view.lastMove && view.lastMove !== last.key) setText(view.moves, `${last.device} moved from ${last.from || "nowhere"} to ${last.to || "nowhere"}`);
  view.lastMove = last?.key ?? "none";
}

const createMove = () => h("li", { class: "move" }, timeAgo(""), h("a", {}, foreign("")), h("span", { class: "move-way" }, foreign(""), h("span", { "aria-hidden": "true" }, " → "), h("span", { class: "visually-hidden" }, " to "), foreign("")), h("bdi", { class: "move-cause" }));

function updateMove(element, { time, device, from, to, cause, link }) {
  const [at, name, way, why] = element.children;
  setTime(at, time);
  setText(name.firstChild, device);
  setLink(name, link);
  setText(way.firstChild, from || "no node");
  setText(way.lastChild, to || "no node");
  setText(why, cause);
}

