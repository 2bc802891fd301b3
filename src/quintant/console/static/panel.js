// The panel of a system: a table for each of its kinds, with one line to filter them all.

import { foreign, h, keyed, setAttribute, setLink, setShown, setText } from "./dom.js";
import { byState, chosenStates, filterLine, matches, prepareRow, sortRows, updateFilters } from "./filters.js";
import { query, setQuery } from "./router.js";
import { topic } from "./store.js";
import { counted, setTitled, Table } from "./table.js";
import { commandLine } from "./text.js";
import { knownState, setState, setTime, simulatedTag, stateTag, timeAgo } from "./words.js";

export function createPanel({ system }) {
  const name = `panel/${system}`;
  const view = {
    title: system,
    topics: [name],
    heading: h("h1", {}, foreign(system)),
    lead: h("p", { class: "lead" }, h("span"), " ", h("span")),
    filters: filterLine({ label: "Search objects", placeholder: "Search name, namespace, any column" }),
    kinds: h("div", { class: "kinds" }),
    install: h("section", { class: "card install-card", hidden: "" }),
    refused: h("p", { class: "empty", hidden: "" }),
    tables: new Map(),
    prepare: (row) => row.uid && prepareRow(`${row.kind} state`, byState)(row),
  };
  view.element = h("article", {}, view.heading, view.lead, view.install, view.refused, view.filters.element, view.kinds);
  view.update = () => update(view, topic(name), system);
  view.leave = () => view.tables.forEach(({ table }) => table.leave());
  return view;
}

function update(view, panel, system) {
  const { meta, ready, refused } = panel;
  const installed = meta.installed !== false;
  setText(view.lead.firstChild, meta.title && meta.title !== system ? `${meta.title}.` : "");
  setShown(view.refused, Boolean(refused));
  if (refused) setText(view.refused, refused.reason || `The console answers ${refused.status}.`);
  updateLinks(view.lead.lastChild, meta, system);
  setShown(view.lead, Boolean(view.lead.textContent.trim()));
  updateInstall(view.install, ready && !refused && !installed ? meta : null);
  setShown(view.filters.element, installed && !refused);
  setShown(view.kinds, installed && !refused);
  if (installed && !refused) updateKinds(view, panel);
}

function updateLinks(lead, meta, system) {
  const docs = typeof meta.docs === "string" ? meta.docs : "";
  if (lead.dataset.docs === docs) return;
  lead.dataset.docs = docs;
  const link = h("a", {}, "What its states mean");
  setLink(link, docs);
  const map = h("a", { href: "/edgemap" }, "Open the edgeMap");
  lead.replaceChildren(...[link.hasAttribute("href") ? link : null, system === "shifu" ? map : null].filter(Boolean).flatMap((each) => [each, " "]));
}

function updateInstall(element, meta) {
  setShown(element, meta !== null);
  if (!meta || element.dataset.command === meta.install) return;
  element.dataset.command = meta.install;
  element.replaceChildren(h("h2", {}, "Not installed"), h("p", {}, "Its kinds are not in this cluster. This installs it; the panel appears here by itself:"), commandLine(meta.install ?? ""));
}

function updateKinds(view, { rows, meta, ready }) {
  const states = chosenStates();
  const text = query("q");
  const totals = {};
  const byKind = new Map((meta.kinds ?? []).map((kind) => [kind.kind, { kind, all: 0, shown: [] }]));
  let shownCount = 0;
  for (const row of rows.values()) {
    const group = byKind.get(row.kind) ?? added(byKind, row.kind);
    group.all += 1;
    totals[knownState(row.state)] = (totals[knownState(row.state)] ?? 0) + 1;
    if ((states.length && !states.includes(knownState(row.state))) || !matches(row, text)) continue;
    group.shown.push(row);
    shownCount += 1;
  }
  updateFilters(view.filters, totals, ready ? counted(shownCount, rows.size, "object") : "Reading…");
  keyed(view.kinds, byKind.values(), ({ kind }) => JSON.stringify(kind), ({ kind }) => createKind(view, kind), (element, group) => updateKind(view, element, group, ready));
}

function added(byKind, kind) {
  const group = { kind: { kind, columns: [] }, all: 0, shown: [] };
  byKind.set(kind, group);
  return group;
}

function createKind(view, kind) {
  const columns = columnsOf(kind);
  const sorted = (key, descending) => setQuery({ sort: [kind.kind, key, descending ? "desc" : ""].join(":") });
  const table = new Table({ columns, label: kind.kind, noun: "object", sorted });
  const title = h("h2", {}, foreign(kind.kind), h("span", { class: "numbers kind-count" }));
  const element = h("section", { class: "card kind", "aria-label": kind.kind }, title, table.element);
  view.tables.set(element, { table, columns });
  return element;
}

function updateKind(view, element, { kind, all, shown }, ready) {
  const { table, columns } = view.tables.get(element);
  const [name, key, direction] = query("sort").split(":");
  const column = (name === kind.kind && columns.find((each) => each.key === key && each.value)) || columns[0];
  const descending = name === kind.kind && direction === "desc";
  sortRows(shown, `${kind.kind} ${column.key}`, column.value, descending);
  setText(element.querySelector(".kind-count"), all ? counted(shown.length, all, "object") : "");
  const none = ready ? `No ${kind.kind} yet. Apply one and it appears here.` : "Reading…";
  table.show(shown, { key: column.key, descending }, all ? "None is like that. Take away a filter to see the others." : none);
}

function columnsOf(kind) {
  const own = (kind.columns ?? []).map(({ title, align }, at) => ({
    key: String(at), title, align: align === "end" ? "end" : null, text: (row) => row.cells?.[at],
    value: (row) => numeric(row.cells?.[at]),
    create: () => foreign("", { class: "cut" }),
    update: (cell, row) => setTitled(cell, row.cells?.[at]),
  }));
  return [
    { key: "state", title: "State", width: "7rem", value: byState, create: () => stateTag("unknown"), update: (tag, row) => setState(tag, row.state) },
    { key: "name", title: "Name", text: nameText, value: (row) => `${row.namespace ?? ""}/${row.name}`, create: createName, update: updateName },
    ...own,
    { key: "why", title: "Why", text: (row) => row.sentence, create: () => foreign("", { class: "cut" }), update: (cell, row) => setTitled(cell, row.sentence) },
    { key: "age", title: "Age", width: "4.2rem", align: "end", value: (row) => -Date.parse(row.created ?? "") || 0, create: () => timeAgo(""), update: (time, row) => setTime(time, row.created) },
  ];
}

/** Figures are sorted as such where a cell begins with one. */
function numeric(text) {
  const value = Number.parseFloat(String(text ?? "").replaceAll(",", ""));
  return /^[\d.,-]+\s*\D{0,4}$/.test(text ?? "") && Number.isFinite(value) ? value : text;
}

const OPEN = "  open ↗";
const SIMULATED = " simulated";

const nameText = (row) => `${row.namespace ?? ""}/${row.name}${row.url ? OPEN : ""}${row.simulated ? SIMULATED : ""}`;

const createName = () =>
  h("span", { class: "name-cell" }, h("a", {}, h("bdi", { class: "namespace" }), foreign("")), h("a", { class: "outside" }, "open"), simulatedTag());

function updateName(cell, row) {
  const [link, outside, simulated] = cell.children;
  setText(link.firstChild, row.namespace ? `${row.namespace}/` : "");
  setText(link.lastChild, row.name);
  setLink(link, row.link);
  setLink(outside, row.url);
  setAttribute(outside, "aria-label", `open the public URL of ${row.name}`);
  setShown(outside, outside.hasAttribute("href"));
  setShown(simulated, Boolean(row.simulated));
}

