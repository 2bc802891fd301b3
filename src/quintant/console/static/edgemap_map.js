// The map by coordinates: a plain grid, nodes as squares, devices as dots; where they are too many, counts.

import { h, isolated, keyed, setAttribute, setShown, setText, svg } from "./dom.js";
import { layoutMap } from "./edgemap_layout.js";
import { query, withQuery } from "./router.js";
import { figure, knownState, number, plural, STATES } from "./words.js";

const WIDTH = 1000;
const HEIGHT = 560;
const PAD = 50;
const LINES = 8;

const x = (share) => PAD + share * (WIDTH - 2 * PAD);
const y = (share) => PAD + share * (HEIGHT - 2 * PAD);

export function createCoordinates() {
  const grid = svg("g", { class: "map-grid" }, Array.from({ length: LINES + 1 }, (_, at) => [
    svg("path", { d: `M${x(at / LINES)} ${PAD}V${HEIGHT - PAD}` }), svg("path", { d: `M${PAD} ${y(at / LINES)}H${WIDTH - PAD}` }),
  ]).flat());
  const [links, cells, nodes, devices] = ["links", "cells", "nodes", "devices"].map((name) => svg("g", { class: `map-${name}` }));
  const corners = svg("g", { class: "map-corners", "aria-hidden": "true" }, svg("text", { x: 4, y: HEIGHT - 3 }), svg("text", { x: WIDTH - PAD, y: 32, "text-anchor": "end" }));
  const drawing = svg("svg", { class: "map", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Map by coordinates" }, grid, links, cells, nodes, devices, corners);
  const told = h("p", { class: "empty" });
  const element = h("div", { class: "card map-card", hidden: "" }, drawing, told);
  return { element, update: (allNodes, allDevices) => update({ links, cells, nodes, devices, corners, told, drawing }, layoutMap(allNodes, allDevices)) };
}

function update(parts, layout) {
  const nothing = layout.nodes.length + layout.devices.length + layout.cells.length === 0;
  setShown(parts.told, nothing || layout.unplaced > 0);
  setText(parts.told, nothing ? "Nothing here has coordinates: give nodes and devices theirs, and they stand on this map." : `${plural(layout.unplaced, "device")} without coordinates: see the boxes.`);
  setAttribute(parts.drawing, "visibility", nothing ? "hidden" : null);
  keyed(parts.links, layout.links, ({ key }) => key, () => svg("path"), (path, { from, to, link }) => {
    setAttribute(path, "data-link", link);
    setAttribute(path, "d", `M${x(from.x)} ${y(from.y)}L${x(to.x)} ${y(to.y)}`);
  });
  keyed(parts.cells, layout.cells, ({ key }) => key, createCell, updateCell);
  keyed(parts.nodes, layout.nodes, ({ key }) => key, createSite, updateSite);
  keyed(parts.devices, layout.devices, ({ key }) => key, createDot, updateDot);
  const { left, right, bottom, top } = layout.scale;
  setText(parts.corners.children[0], nothing ? "" : `${figure(left)}, ${figure(bottom)}`);
  setText(parts.corners.children[1], nothing ? "" : `${figure(right)}, ${figure(top)}`);
}

const createSite = () => svg("a", { class: "site" }, svg("rect", { width: 22, height: 22, rx: 4 }), svg("text", { "text-anchor": "middle" }));

function updateSite(element, { row, x: across, y: down }) {
  setAttribute(element, "href", `/objects/core/v1/nodes/-/${encodeURIComponent(row.name)}`);
  setAttribute(element, "data-state", knownState(row.state));
  setAttribute(element, "aria-label", `node ${isolated(row.name)}, ${knownState(row.state)}`);
  setAttribute(element.children[0], "x", x(across) - 11);
  setAttribute(element.children[0], "y", y(down) - 11);
  setAttribute(element.children[1], "x", x(across));
  setAttribute(element.children[1], "y", y(down) + 27);
  setText(element.children[1], row.name);
}

/** One shape for each state, as everywhere. */
const DOTS = { well: "M0-7a7 7 0 1 0 0 14A7 7 0 0 0 0-7Z", working: "M0-8 8 0 0 8-8 0Z", broken: "M0-9 9 7H-9Z", unknown: "M-6-6H6V6H-6Z" };

const createDot = () => svg("a", { class: "dot" }, svg("path"));

function updateDot(element, { row, x: across, y: down }) {
  const state = knownState(row.state);
  const id = `${row.namespace}/${row.name}`;
  setAttribute(element, "href", withQuery({ device: id }));
  setAttribute(element, "data-state", state);
  setAttribute(element, "data-link", row.link_state);
  setAttribute(element, "aria-current", query("device") === id ? "true" : null);
  setAttribute(element, "aria-label", `device ${isolated(id)}, ${state}, on ${isolated(row.node || "no node")}`);
  setAttribute(element.firstChild, "d", DOTS[state]);
  element.firstChild.style.transform = `translate(${x(across)}px, ${y(down)}px)`;
}

const createCell = () => svg("g", { class: "cell-count", role: "img" }, svg("circle"), svg("text", { "text-anchor": "middle" }));

function updateCell(element, { devices, counts, x: across, y: down }) {
  const worst = STATES.find((state) => counts[state] > 0);
  setAttribute(element, "data-state", worst);
  setAttribute(element, "aria-label", `${plural(devices.length, "device")}: ${STATES.filter((state) => counts[state]).map((state) => `${number(counts[state])} ${state}`).join(", ")}`);
  setAttribute(element.children[0], "cx", x(across));
  setAttribute(element.children[0], "cy", y(down));
  setAttribute(element.children[0], "r", Math.min(22, 7 + 3 * Math.log2(devices.length)));
  setAttribute(element.children[1], "x", x(across));
  setAttribute(element.children[1], "y", y(down) + 4);
  setText(element.children[1], number(devices.length));
}
