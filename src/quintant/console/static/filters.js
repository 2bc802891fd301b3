// Filtering and sorting rows by the address: ?q= text, ?state= words, ?sort= a column. What is computed of a row is
// computed once: a row that changes is another value.

import { h, setAttribute, setText } from "./dom.js";
import { query, setQuery } from "./router.js";
import { number, stateRank, STATES, stateShape } from "./words.js";

const haystacks = new WeakMap();
const sortKeys = new WeakMap();

/** All the text of a row, for searching. */
export function haystack(row) {
  let text = haystacks.get(row);
  if (text === undefined) haystacks.set(row, (text = texts(row).join("\n").toLowerCase()));
  return text;
}

const SEARCHED = 2000; // characters of one text: the rest of a huge message finds nothing

function texts(value) {
  if (typeof value === "string") return [value.slice(0, SEARCHED)];
  if (typeof value === "number") return [String(value)];
  if (value && typeof value === "object") return Object.entries(value).flatMap(([key, each]) => (key === "link" ? [] : texts(each)));
  return [];
}

/** Whether a row has every word of a text. */
export function matches(row, text) {
  if (!text) return true;
  const all = haystack(row);
  return text.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}

/** "light-9" before "light-10", and no matter of capitals. */
export function naturalKey(text) {
  return String(text).toLowerCase().replace(/\d+/g, (digits) => digits.padStart(12, "0"));
}

/** Sort rows in place by what a column has. */
export function sortRows(rows, name, value, descending) {
  const sign = descending ? -1 : 1;
  const keys = rows.map((row) => ({ row, key: cachedKey(row, name, value) }));
  keys.sort((one, other) => (one.key < other.key ? -sign : one.key > other.key ? sign : one.row.key < other.row.key ? -1 : 1));
  keys.forEach(({ row }, at) => (rows[at] = row));
  return rows;
}

function cachedKey(row, name, value) {
  let keys = sortKeys.get(row);
  if (!keys) sortKeys.set(row, (keys = {}));
  if (!(name in keys)) {
    const given = value(row);
    keys[name] = typeof given === "number" ? given : naturalKey(given ?? "");
  }
  return keys[name];
}

/** Compute what rows are sorted by before there are many to sort. */
export const prepareRow = (name, value) => (row) => cachedKey(row, name, value);

/** Broken first, then by namespace and name. */
export const byState = (row) => `${stateRank(row.state)} ${naturalKey(`${row.namespace ?? ""}/${row.name ?? ""}`)}`;

// ── the line above a list: a text to search for, and states to keep ──


const TYPING_MS = 150;

/** A field and four switches; `placeholder` says what is searched. */
export function filterLine({ label, placeholder, states = true, extra = [] }) {
  let typing = null;
  const field = h("input", { type: "search", id: "filter", class: "field", placeholder, autocomplete: "off", spellcheck: "false", "aria-label": label });
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => setQuery({ q: field.value.trim() }, { replace: true }), TYPING_MS);
  });
  const switches = states ? STATES.map(stateSwitch) : [];
  const count = h("p", { class: "count", role: "status" });
  const element = h("div", { class: "filters", role: "search" }, field, h("div", { class: "switches", role: "group", "aria-label": "States" }, switches), extra, count);
  if (!states) element.children[1].hidden = true;
  return { element, field, switches, count };
}

function stateSwitch(state) {
  const total = h("span", { class: "numbers" }, "0");
  const button = h("button", { type: "button", class: "switch", "data-state": state, "aria-pressed": "false" }, stateShape(state), state, total);
  button.addEventListener("click", () => {
    const chosen = new Set(chosenStates());
    if (!chosen.delete(state)) chosen.add(state);
    setQuery({ state: [...chosen].join(",") });
  });
  return button;
}

/** The states that the address keeps; none is all. */
export const chosenStates = () => query("state").split(",").filter((word) => STATES.includes(word));

/** Show what the address says, and how many rows there are of each state. */
export function updateFilters({ field, switches, count }, totals, text) {
  if (document.activeElement !== field && field.value !== query("q")) field.value = query("q");
  const chosen = chosenStates();
  for (const button of switches) {
    setAttribute(button, "aria-pressed", String(chosen.includes(button.dataset.state)));
    setText(button.lastChild, number(totals[button.dataset.state] ?? 0));
  }
  setText(count, text);
}
