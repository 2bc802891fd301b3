// The overview: each system in one line, the broken first and why; operators, plots, nodes, the last events.

import { foreign, h, keyed, rowsOf, setAttribute, setLink, setShown, setText } from "./dom.js";
import { createBar, createPlot, memory, updateBar, updatePlot } from "./figures.js";
import { createEvent, sortedEvents, updateEvent } from "./lists.js";
import { topic } from "./store.js";
import { commandLine, longText, setLongText } from "./text.js";
import { figure, knownState, number, plural, setShape, setState, simulatedTag, STATES, stateRank, stateShape, stateTag } from "./words.js";

const LAST_EVENTS = 8;
const MOST_NODES = 6;

export function createOverview() {
  const view = {
    title: "Overview",
    topics: ["overview", "events", "nodes"],
    summary: h("p", { class: "lead" }),
    systems: h("ul", { class: "systems" }),
    operators: h("tbody"),
    figures: h("ul", { class: "no-figures" }),
    plots: h("div", { class: "plots" }),
    events: h("ul", { class: "events" }),
    nodes: h("div", { class: "node-summary" }),
  };
  const noOperators = h("p", { class: "empty" }, "No operator runs here. Each system above has the command that installs it; ", h("code", {}, "quintant demo"), " has all of them in a cluster of its own.");
  const noEvents = h("p", { class: "empty" }, "No event yet. They appear here as they happen.");
  const plotCard = card("Last minutes", view.plots);
  view.element = h("article", { class: "overview" },
    h("h1", {}, "Overview"), view.summary,
    h("section", { class: "card", "aria-label": "Systems", hidden: "" }, view.systems),
    h("div", { class: "columns" },
      h("div", { class: "stack" },
        card("Operators", h("div", { class: "scroll-x", tabindex: "0", role: "region", "aria-label": "Operators, table" }, operatorTable(view.operators)), view.figures, noOperators),
        card("Last events", view.events, noEvents, h("p", { class: "card-end" }, h("a", { href: "/events" }, "All events")))),
      h("div", { class: "stack" }, plotCard, card("Nodes", view.nodes, h("p", { class: "card-end" }, h("a", { href: "/nodes" }, "All nodes"))))));
  view.update = () => update(view, { noOperators, noEvents, plotCard });
  return view;
}

const card = (title, ...children) => h("section", { class: "card", "aria-label": title }, h("h2", {}, title), children);

function operatorTable(body) {
  const titles = ["Operator", "Ready", "Version", "Restarts", "Reconciles/s", "Errors/s"];
  return h("table", { class: "small-table" }, h("thead", {}, h("tr", {}, titles.map((title, at) => h("th", { scope: "col", "data-align": at > 2 ? "end" : null }, title)))), body);
}

function update(view, { noOperators, noEvents, plotCard }) {
  const overview = topic("overview");
  const systems = rowsOf(overview, "system/").sort(bySystem);
  setText(view.summary, overview.ready ? sentence(systems) : "Reading the cluster…");
  keyed(view.systems, systems, (row) => row.key, createSystem, updateSystem);
  setShown(view.systems.parentElement, systems.length > 0);
  const operators = rowsOf(overview, "operator/").sort((one, other) => (one.name < other.name ? -1 : 1));
  keyed(view.operators, operators, (row) => row.key, createOperator, updateOperator);
  keyed(view.figures, whyNoFigures(operators), ({ why }) => why, () => h("li", {}, foreign("")), (item, { why, names }) => setText(item.firstChild, `${names.join(", ")}: ${why}.`));
  setShown(noOperators, overview.ready && operators.length === 0);
  setShown(view.operators.closest(".scroll-x"), operators.length > 0);
  const plots = rowsOf(overview, "plot/").sort((one, other) => (one.key < other.key ? -1 : 1));
  keyed(view.plots, plots, (row) => row.key, createPlot, updatePlot);
  setShown(plotCard, plots.length > 0);
  updateNodes(view.nodes, topic("nodes"));
  const events = sortedEvents(topic("events")).slice(0, LAST_EVENTS);
  keyed(view.events, events, (row) => row.key, createEvent, updateEvent);
  setShown(noEvents, topic("events").ready && events.length === 0);
}

/** Why there are no figures, once for all operators that it is true of. */
function whyNoFigures(operators) {
  const reasons = new Map();
  for (const { name, figures } of operators) if (figures) reasons.set(figures, [...(reasons.get(figures) ?? []), name]);
  return [...reasons].map(([why, names]) => ({ why, names }));
}

const total = (counts) => STATES.reduce((sum, state) => sum + (counts?.[state] ?? 0), 0);
const worst = (row) => (row.installed ? STATES.find((state) => row.counts?.[state] > 0) ?? "well" : "unknown");

function bySystem(one, other) {
  const rank = (row) => (row.installed ? stateRank(worst(row)) : STATES.length);
  return rank(one) - rank(other) || (one.name < other.name ? -1 : 1);
}

function sentence(systems) {
  const installed = systems.filter((row) => row.installed);
  if (!installed.length) return "No system is installed yet: each has the command that installs it.";
  const sum = (state) => installed.reduce((all, row) => all + (row.counts?.[state] ?? 0), 0);
  const all = installed.reduce((count, row) => count + total(row.counts), 0);
  const parts = [["broken", "broken"], ["working", "at work"], ["unknown", "unknown"]].filter(([state]) => sum(state)).map(([state, word]) => `${number(sum(state))} ${word}`);
  return `${plural(installed.length, "system")}, ${plural(all, "object")}: ${parts.length ? parts.join(", ") : "all is well"}.`;
}

function createSystem() {
  const counts = h("ul", { class: "counts" }, STATES.toReversed().map((state) => h("li", { "data-state": state }, stateShape(state), h("span", { class: "numbers" }), h("span", { class: "count-word" }, state))));
  const link = h("div", { class: "system-name" }, h("a", { class: "system-title" }), h("bdi", { class: "under" }));
  const line = h("div", { class: "system-line" }, stateShape("unknown"), link, h("div", { class: "system-sentence" }, longText("")), counts);
  return h("li", { class: "system" }, line, h("ul", { class: "broken-list" }), h("div", { class: "install" }));
}

function updateSystem(element, row) {
  const [line, broken, install] = element.children;
  const [shape, { children: [link, title] }, said, counts] = line.children;
  setAttribute(element, "data-installed", String(Boolean(row.installed)));
  shape.replaceWith(worst(row) === shape.dataset.state ? shape : stateShape(worst(row)));
  setText(link, row.name);
  setText(title, row.title === row.name ? "" : row.title);
  setLink(link, `/systems/${encodeURIComponent(row.name)}`);
  setLongText(said.firstChild, row.installed ? row.sentence : "Not installed. This installs it:");
  setShown(counts, Boolean(row.installed));
  for (const item of counts.children) {
    const count = row.counts?.[item.dataset.state] ?? 0;
    setText(item.children[1], number(count));
    setAttribute(item, "data-none", count === 0 ? "true" : null);
  }
  keyed(broken, (row.broken ?? []).map((each, at) => ({ ...each, at })), (each) => each.link ?? each.at, createBroken, updateBroken);
  updateInstall(install, row.installed ? "" : row.install);
}

function updateInstall(element, command) {
  if ((element.dataset.command ?? "") === (command ?? "")) return;
  element.dataset.command = command ?? "";
  element.replaceChildren(...(command ? [commandLine(command)] : []));
}

const createBroken = () => h("li", {}, stateTag("broken"), h("a", { class: "broken-title" }, foreign("")), longText(""));

function updateBroken(element, { title, sentence: why, link }) {
  const [, anchor, said] = element.children;
  setText(anchor.firstChild, title);
  setLink(anchor, link);
  setLongText(said, why);
}

function createOperator() {
  const cell = (align) => h("td", { "data-align": align }, h("bdi"));
  return h("tr", {}, h("th", { scope: "row" }, h("bdi"), h("bdi", { class: "under" })), cell(), cell(), cell("end"), cell("end"), cell("end"));
}

function updateOperator(element, row) {
  const [name, ...cells] = element.children;
  setText(name.firstChild, row.name);
  setText(name.lastChild, `${row.namespace}\n${row.leader ? `led by ${row.leader}` : row.figures ? "leader not known" : "no leader"}`);
  setAttribute(element, "data-state", row.ready >= row.replicas && row.replicas > 0 ? "well" : "broken");
  const rate = (value) => (typeof value === "number" ? figure(value) : "–");
  const values = [`${row.ready ?? 0} of ${row.replicas ?? 0}`, row.version, number(row.restarts ?? 0), row.figures ? "no figures" : rate(row.reconcile_rate), row.figures ? "" : rate(row.error_rate)];
  values.forEach((value, at) => setText(cells[at].firstChild, value));
}

// ── nodes: those with a fault first, then those with the least free memory ──

function updateNodes(element, nodes) {
  if (!element.firstChild) element.append(h("p", {}), h("ul", { class: "node-list" }));
  const rows = [...nodes.rows.values()];
  const count = (state) => rows.filter((row) => knownState(row.state) === state).length;
  const simulated = rows.filter((row) => row.simulated).length;
  const free = rows.reduce((sum, row) => sum + (row.state === "well" ? freeMemory(row) ?? 0 : 0), 0);
  const faults = [["broken", "with a fault"], ["working", "taking no pods"], ["unknown", "unknown"]].filter(([state]) => count(state)).map(([state, words]) => `${number(count(state))} ${words}`);
  const parts = [faults.join(", ") || "all well", free ? `${memory(free)} of memory free` : ""].filter(Boolean);
  const none = "No node yet. Each says here how it is as soon as it joins.";
  setText(element.firstChild, nodes.ready ? (rows.length ? `${plural(rows.length, "node")}${simulated ? `, ${number(simulated)} simulated` : ""}: ${parts.join(", ")}.` : none) : "");
  const order = (one, other) => stateRank(one.state) - stateRank(other.state) || (freeMemory(one) ?? 0) - (freeMemory(other) ?? 0) || (one.name < other.name ? -1 : 1);
  keyed(element.lastChild, rows.sort(order).slice(0, MOST_NODES), (row) => row.key, createNode, updateNode);
}

function freeMemory({ memory: amount }) {
  const { capacity, requested } = amount ?? {};
  return typeof capacity === "number" && capacity > 0 ? Math.max(0, capacity - (requested ?? 0)) : null;
}

const createNode = () => h("li", { class: "node" }, stateShape("unknown"), h("span", { class: "node-name" }, h("a", {}, foreign("")), simulatedTag()), h("span", { class: "node-free numbers" }), createBar("memory"), h("p", { class: "node-why" }, foreign("")));

function updateNode(element, row) {
  const [shape, name, free, bar, why] = element.children;
  const left = freeMemory(row);
  setShape(shape, row.state);
  setAttribute(element, "data-state", knownState(row.state));
  setText(name.firstChild.firstChild, row.name);
  setLink(name.firstChild, row.link);
  setShown(name.lastChild, Boolean(row.simulated));
  setText(free, left === null ? "" : `${memory(left)} free`);
  setShown(bar, left !== null);
  updateBar(bar, row.memory, memory);
  setText(why.firstChild, row.sentence);
  setShown(why, row.state !== "well");
}
