// What of an edgeMap is drawn: pure functions from nodes and devices to at most 500 shapes. Full nodes are counts,
// opened on demand.

import { naturalKey } from "./filters.js";
import { knownState, STATES } from "./words.js";

export const MOST_SHAPES = 500;
const MOST_BOXES = 90;
const CHIPS_UNASKED = 24; // devices of a node that are drawn without being asked for
const CHIPS_OPENED = 120;
const CELLS = 18; // of the map by coordinates, each way, where devices are too many to draw

const searched = new WeakMap();

/** Whether a device is like a text: name, sku, protocol, node, label. */
export function deviceMatches(device, text) {
  if (!text) return true;
  let all = searched.get(device);
  if (all === undefined) {
    const labels = Object.entries(device.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    all = [`${device.namespace}/${device.name}`, device.sku, device.protocol, device.node, ...labels].join("\n").toLowerCase();
    searched.set(device, all);
  }
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** Devices by state, for a node that is a count. */
export function countStates(devices) {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const device of devices) counts[knownState(device.state)] += 1;
  return counts;
}

/** The boxes of nodes with what is drawn in each: {key, node, devices, drawn, counts, opened}, and how many were left out. */
export function layoutBoxes(nodes, devices, { text = "", broken = false, opened = new Set() } = {}) {
  const filtered = Boolean(text) || broken;
  const wanted = devices.filter((device) => deviceMatches(device, text) && (!broken || device.state === "broken"));
  const byNode = groupByNode(wanted);
  const named = new Map(nodes.map((node) => [node.name, node]));
  const nodeMatches = (node) => (!text || node.name.toLowerCase().includes(text.toLowerCase())) && (!broken || node.state === "broken");
  const names = [...new Set([...named.keys(), ...byNode.keys()])].filter((name) => byNode.has(name) || (named.has(name) && (!filtered || nodeMatches(named.get(name)))));
  const boxes = names.map((name) => ({ key: name, node: named.get(name) ?? null, devices: byNode.get(name) ?? [] }));
  const chosen = chooseBoxes(boxes, opened);
  drawChips(chosen, opened);
  return { boxes: chosen, leftOut: boxes.length - chosen.length, matched: wanted.length };
}

function groupByNode(devices) {
  const groups = new Map();
  for (const device of devices) {
    const name = device.node || "";
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(device);
  }
  return groups;
}

/** Boxes keep the order of their names, those with nothing to see behind the others: one that jumps is not found again. */
function chooseBoxes(boxes, opened) {
  for (const box of boxes) box.idle = box.devices.length === 0 && box.node?.state === "well";
  const sorted = boxes.map((box) => [`${Number(box.idle)} ${naturalKey(box.key)}`, box]).sort(([one], [other]) => (one < other ? -1 : 1)).map(([, box]) => box);
  if (sorted.length <= MOST_BOXES) return sorted;
  const urgent = (box) => box.key === "" || opened.has(box.key) || box.node?.state === "broken" || box.devices.some((device) => device.state === "broken");
  const kept = new Set([...sorted.filter(urgent), ...sorted.filter((box) => !urgent(box))].slice(0, MOST_BOXES));
  return sorted.filter((box) => kept.has(box));
}

function drawChips(boxes, opened) {
  let left = MOST_SHAPES - boxes.length;
  const draw = (box, most) => {
    const count = Math.min(box.devices.length, most);
    if (count > left) return;
    left -= count;
    box.drawn = sortedDevices(box.devices).slice(0, count);
  };
  for (const box of boxes) {
    box.opened = opened.has(box.key);
    box.counts = countStates(box.devices);
    box.drawn = [];
  }
  for (const box of boxes) if (box.opened) draw(box, CHIPS_OPENED);
  for (const box of boxes) if (!box.opened && box.devices.length <= CHIPS_UNASKED) draw(box, CHIPS_UNASKED);
}

const names = new WeakMap();

function sortKey(device) {
  let name = names.get(device);
  if (name === undefined) names.set(device, (name = naturalKey(`${device.namespace}/${device.name}`)));
  return name;
}

const sortedDevices = (devices) => [...devices].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));

/** The map by coordinates: {nodes, devices, links, cells} in 0..1 each way; cells where devices are too many. */
export function layoutMap(nodes, devices) {
  const placed = (each) => Number.isFinite(each.x) && Number.isFinite(each.y);
  const here = devices.filter(placed);
  const sites = nodes.filter(placed).slice(0, MOST_BOXES);
  const scale = scaleOf([...sites, ...here]);
  const at = (each) => ({ key: each.key, row: each, x: scale.x(each.x), y: scale.y(each.y) });
  const unplaced = devices.length - here.length;
  if (sites.length + here.length > MOST_SHAPES) return { nodes: sites.map(at), devices: [], links: [], cells: cellsOf(here, scale), unplaced, scale };
  const drawn = here.map(at);
  const links = sites.length + 2 * here.length <= MOST_SHAPES ? linksOf(drawn, new Map(sites.map((node) => [node.name, at(node)]))) : [];
  return { nodes: sites.map(at), devices: drawn, links, cells: [], unplaced, scale };
}

function scaleOf(points) {
  const range = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(points.map((each) => each.x));
  const [bottom, top] = range(points.map((each) => each.y));
  return { x: (value) => (right > left ? (value - left) / (right - left) : 0.5), y: (value) => (top > bottom ? 1 - (value - bottom) / (top - bottom) : 0.5), left, right, bottom, top };
}

function linksOf(drawn, sites) {
  const ends = drawn.filter(({ row }) => row.node && sites.has(row.node));
  return ends.map((device) => ({ key: device.key, from: device, to: sites.get(device.row.node), link: device.row.link_state }));
}

function cellsOf(devices, scale) {
  const cells = new Map();
  for (const device of devices) {
    const [column, line] = [scale.x(device.x), scale.y(device.y)].map((value) => Math.min(CELLS - 1, Math.floor(value * CELLS)));
    const key = `${column} ${line}`;
    if (!cells.has(key)) cells.set(key, { key, x: (column + 0.5) / CELLS, y: (line + 0.5) / CELLS, devices: [] });
    cells.get(key).devices.push(device);
  }
  return [...cells.values()].map((cell) => ({ ...cell, counts: countStates(cell.devices) }));
}
