// Lists over everything: events, what changed in the last ten minutes, nodes.

import { foreign, h, keyed, rowsOf, setAttribute, setLink, setShown, setText } from "./dom.js";
import { cores, createBar, memory, updateBar } from "./figures.js";
import { byState, chosenStates, filterLine, matches, sortRows, updateFilters } from "./filters.js";
import { go, query, setQuery } from "./router.js";
import { topic } from "./store.js";
import { counted, setTitled, Table } from "./table.js";
import { longText, setLongText } from "./text.js";
import { knownState, number, setShape, setState, setTime, simulatedTag, stateShape, stateTag, timeAgo } from "./words.js";

const READING = "Reading…"; // no figure is known yet, not even that there are none

// ── events ──

export function sortedEvents(events) {
  return rowsOf(events).sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0));
}

export const createEvent = () =>
  h("li", { class: "event" }, stateShape("well"),
    h("div", { class: "event-body" },
      h("p", { class: "event-head" }, h("bdi", { class: "event-reason" }), h("a", {}, foreign("")), h("span", { class: "event-count numbers" })),
      longText("", "div")),
    timeAgo(""));

export function updateEvent(element, row) {
  const [shape, body, time] = element.children;
  const [head, message] = body.children;
  const { kind, namespace, name, link } = row.object ?? {};
  setShape(shape, row.type === "Warning" ? "broken" : "well");
  setAttribute(element, "data-type", row.type);
  setText(head.children[0], row.reason);
  setText(head.children[1].firstChild, `${kind ?? ""} ${namespace ? `${namespace}/` : ""}${name ?? ""}`);
  setLink(head.children[1], link);
  setShown(head.children[1], link !== location.pathname);
  setText(head.children[2], row.count > 1 ? `${number(row.count)} times` : "");
  setLongText(message, row.message);
  setTime(time, row.time);
}

export function createEvents() {
  const warnings = h("button", { type: "button", class: "switch", "aria-pressed": "false", click: () => setQuery({ type: query("type") ? "" : "Warning" }) }, stateShape("broken"), "only warnings");
  const filters = filterLine({ label: "Search events", placeholder: "Search reason, message, object", states: false, extra: [warnings] });
  const list = h("ul", { class: "events card" });
  const empty = h("p", { class: "empty" });
  const update = () => {
    const events = topic("events");
    const rows = sortedEvents(events);
    const shown = rows.filter((row) => matches(row, query("q")) && (!query("type") || row.type === query("type")));
    setAttribute(warnings, "aria-pressed", String(query("type") === "Warning"));
    updateFilters(filters, {}, events.ready ? counted(shown.length, rows.length, "event") : READING);
    keyed(list, shown, (row) => row.key, createEvent, updateEvent);
    setShown(list, shown.length > 0);
    setShown(empty, events.ready && shown.length === 0);
    setText(empty, rows.length ? "No event is like that. Take away a filter to see the others." : "No event yet. They appear here as they happen.");
  };
  return { title: "Events", topics: ["events"], element: h("article", {}, h("h1", {}, "Events"), h("p", { class: "lead" }, "The last 200 of the cluster, the newest first."), filters.element, empty, list), update };
}

// ── changes ──

const ALL = "-"; // in the place of a namespace
/** One change of one field, for an object's history and the list of all. */
export const createChange = () =>
  h("li", { class: "change" },
    h("p", { class: "change-head" }, h("a", {}, foreign("")), h("code", { class: "change-field" }, foreign("")), h("span", { class: "change-manager" }, "by ", foreign("")), h("time", { class: "numbers" })),
    h("div", { class: "change-values" },
      h("div", { class: "change-old" }, h("span", { class: "change-word" }, "before"), longText("", "div")),
      h("div", { class: "change-new" }, h("span", { class: "change-word" }, "after"), longText("", "div"))));

export function updateChange(element, row) {
  const [head, values] = element.children;
  const [link, field, manager, time] = head.children;
  setShown(link, Boolean(row.kind));
  setText(link.firstChild, `${row.kind ?? ""} ${row.namespace ? `${row.namespace}/` : ""}${row.name ?? ""}`);
  setLink(link, row.link);
  setText(field.firstChild, row.field);
  setText(manager.lastChild, row.manager || "an unnamed manager");
  setAttribute(time, "datetime", row.time);
  setAttribute(time, "title", row.time);
  setTime(time, row.time);
  setLongText(values.children[0].children[1], shownValue(row.old));
  setLongText(values.children[1].children[1], shownValue(row.new));
}

function shownValue(value) {
  if (value === null || value === undefined || value === "") return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const sortedChanges = (rows) => rows.sort((one, other) => (one.time === other.time ? naturalOrder(other.key, one.key) : one.time < other.time ? 1 : -1));

const naturalOrder = (one, other) => Number(one.replace(/\D/g, "")) - Number(other.replace(/\D/g, ""));

/** The changes of one namespace, or of all. */
export function createChanges({ namespace: chosen = ALL }) {
  const name = `changes/${chosen}`;
  const filters = filterLine({ label: "Search changes", placeholder: "Search object, field, value, manager", states: false });
  const namespace = h("select", { class: "field", "aria-label": "Namespace" });
  namespace.addEventListener("change", () => go(namespace.value === ALL ? "/changes" : `/changes/${encodeURIComponent(namespace.value)}`));
  filters.element.insertBefore(namespace, filters.count);
  const list = h("ul", { class: "changes card" });
  const empty = h("p", { class: "empty" });
  const update = () => {
    const changes = topic(name);
    const rows = sortedChanges(rowsOf(changes));
    updateNamespaces(namespace, chosen, rows);
    const shown = rows.filter((row) => matches(row, query("q")));
    updateFilters(filters, {}, changes.ready ? counted(shown.length, rows.length, "change") : READING);
    keyed(list, shown.slice(0, 300), (row) => row.key, createChange, updateChange);
    setShown(list, shown.length > 0);
    setShown(empty, changes.ready && shown.length === 0);
    setText(empty, rows.length ? "No change is like that. Take away a filter to see the others." : "Nothing changed in the last ten minutes. Edit an object and it is here, with who did it.");
  };
  const title = chosen === ALL ? "Changes" : `Changes in ${chosen}`;
  return { title, topics: [name], element: h("article", {}, h("h1", {}, foreign(title)), h("p", { class: "lead" }, "What changed in the last ten minutes: which field, from what to what, and by whom."), filters.element, empty, list), update };
}

const knownNamespaces = new Set(); // those seen so far: the list of one namespace does not name the others

function updateNamespaces(select, chosen, rows) {
  for (const name of [chosen, ...rows.map((row) => row.namespace)]) if (name && name !== ALL) knownNamespaces.add(name);
  keyed(select, [ALL, ...[...knownNamespaces].sort()], (name) => name, (name) => h("option", { value: name }, name === ALL ? "All namespaces" : name), () => {});
  if (select.value !== chosen) select.value = chosen;
}

// ── nodes ──

const NODE_COLUMNS = [
  { key: "state", title: "State", width: "7.5rem", value: byState, create: () => stateTag("unknown"), update: (tag, row) => setState(tag, row.state) },
  { key: "name", title: "Node", width: "minmax(9rem, 1.2fr)", value: (row) => row.name, create: () => h("span", { class: "name-cell" }, h("a", {}, foreign("")), simulatedTag()), update: updateName },
  { key: "memory", title: "Memory", width: "minmax(11rem, 1fr)", value: (row) => row.memory?.requested ?? 0, create: () => createBar("memory"), update: (bar, row) => updateBar(bar, row.memory, memory) },
  { key: "cpu", title: "CPU", width: "minmax(9rem, 1fr)", value: (row) => row.cpu?.requested ?? 0, create: () => createBar("cpu"), update: (bar, row) => updateBar(bar, row.cpu, cores) },
  { key: "pods", title: "Pods", width: "4.5rem", align: "end", value: (row) => row.pods ?? 0, create: () => h("span", { class: "numbers" }), update: (cell, row) => setText(cell, number(row.pods ?? 0)) },
  { key: "sentence", title: "Why", width: "minmax(12rem, 2fr)", create: () => foreign("", { class: "cut" }), update: (cell, row) => setTitled(cell, [row.sentence, ...(row.taints ?? [])].filter(Boolean).join(" · ")) },
];

function updateName(cell, row) {
  setText(cell.firstChild.firstChild, row.name);
  setLink(cell.firstChild, row.link);
  setShown(cell.lastChild, Boolean(row.simulated));
}

export function createNodes() {
  const filters = filterLine({ label: "Search nodes", placeholder: "Search name, taint, reason" });
  const table = new Table({ columns: NODE_COLUMNS, label: "Nodes", noun: "node", sorted: (key, descending) => setQuery({ sort: `${key}${descending ? ":desc" : ""}` }) });
  const update = () => {
    const nodes = topic("nodes");
    showRows(table, filters, rowsOf(nodes), NODE_COLUMNS, nodes.ready);
  };
  return { title: "Nodes", topics: ["nodes"], element: h("article", {}, h("h1", {}, "Nodes"), filters.element, table.element), update, leave: () => table.leave() };
}

/** Filter and sort rows by the address, into a table. */
function showRows(table, filters, rows, columns, ready) {
  const states = chosenStates();
  const totals = {};
  for (const row of rows) totals[knownState(row.state)] = (totals[knownState(row.state)] ?? 0) + 1;
  const shown = rows.filter((row) => (!states.length || states.includes(knownState(row.state))) && matches(row, query("q")));
  const [name, direction] = query("sort").split(":");
  const column = columns.find((each) => each.key === name && each.value) ?? columns[0];
  const descending = direction === "desc";
  sortRows(shown, column.key, column.value, descending);
  updateFilters(filters, totals, ready ? counted(shown.length, rows.length, table.noun) : READING);
  table.show(shown, { key: column.key, descending }, ready ? `No ${table.noun} is like that.` : READING);
}

