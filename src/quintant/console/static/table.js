// A table of any length: only the rows in sight are elements, and they are kept by key.
//
// Columns are {key, title, align, width, value(row) for sorting, create(), update(cell, row)}. One with `text(row)` is as
// wide as what stands in it, within limits; a table that is wider than its card scrolls.

import { h, keyed, setAttribute, setShown, setText } from "./dom.js";
import { plural } from "./words.js";

const OVERSCAN = 6;
const CHARACTER_REM = 0.55;
const [LEAST_CHARACTERS, MOST_CHARACTERS] = [14, 30]; // what a column has at least of its text, and what it may ask for
const [GAP_REM, PADDING_REM] = [1.25, 2.5];
const NARROW = matchMedia("(max-width: 46rem)");
const ROW = { wide: 41, narrow: 98 };

export class Table {
  /** `columns`, the table's `label`, the `noun` it counts, and `sorted(key, descending)` to be told of another order. */
  constructor({ columns, label, noun, sorted }) {
    Object.assign(this, { columns, noun, sorted, rows: [], active: null });
    this.head = h("div", { role: "row", class: "row row-head", "aria-rowindex": "1" }, columns.map((column) => this.headCell(column)));
    this.canvas = h("div", { role: "presentation", class: "canvas" });
    this.scroller = h("div", { role: "rowgroup", class: "scroller" }, this.canvas);
    this.grid = h("div", { role: "grid", class: "table", "aria-label": label, "aria-colcount": columns.length },
      h("div", { role: "rowgroup", class: "table-head" }, this.head), this.scroller);
    this.widest = columns.map(({ title }) => title.length + 2); // only ever grows: a table that is scrolled does not jump
    this.setWidths();
    this.empty = h("p", { class: "empty", hidden: "" });
    this.element = h("div", { class: "table-box" }, this.grid, this.empty);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("focusin", (event) => this.activate(event.target.closest(".row")?.dataset.key));
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.scroller);
  }

  leave() {
    this.resized.disconnect();
  }

  headCell(column) {
    const button = h("button", { type: "button", class: "sort", click: () => this.turn(column.key) }, column.title);
    return h("div", { role: "columnheader", class: "cell", "data-align": column.align, "data-key": column.key }, column.value ? button : column.title);
  }

  turn(key) {
    this.sorted(key, this.order?.key === key && !this.order.descending);
  }

  /** Show these rows, which are in order already; each has a `key`. */
  show(rows, order, emptyText) {
    Object.assign(this, { rows, order });
    for (const cell of this.head.children) {
      const by = order && cell.dataset.key === order.key;
      setAttribute(cell, "aria-sort", by ? (order.descending ? "descending" : "ascending") : null);
    }
    setAttribute(this.grid, "aria-rowcount", rows.length + 1);
    setText(this.empty, emptyText);
    setShown(this.empty, rows.length === 0);
    setShown(this.grid, rows.length > 0);
    this.draw();
  }

  get rowHeight() {
    return NARROW.matches ? ROW.narrow : ROW.wide;
  }

  setWidths() {
    const least = this.columns.map(({ text, width }, at) => (text ? Math.min(this.widest[at], LEAST_CHARACTERS) * CHARACTER_REM : Number.parseFloat(/[\d.]+(?=rem)/.exec(width)[0])));
    const widths = this.columns.map(({ text, width }, at) => (text ? `minmax(${least[at].toFixed(2)}rem, ${this.widest[at]}fr)` : width));
    this.grid.style.setProperty("--columns", widths.join(" "));
    const sum = least.reduce((all, each) => all + each, PADDING_REM + GAP_REM * (least.length - 1));
    this.grid.style.setProperty("--least", `${sum.toFixed(2)}rem`);
  }

  /** Make room for the texts of rows that come into sight. */
  measure(rows) {
    const wanted = this.columns.map(({ text }, at) => (text ? rows.reduce((most, row) => Math.max(most, Math.min(MOST_CHARACTERS, String(text(row) ?? "").length)), this.widest[at]) : this.widest[at]));
    if (wanted.every((each, at) => each === this.widest[at])) return;
    this.widest = wanted;
    this.setWidths();
  }

  draw() {
    const height = this.rowHeight;
    this.canvas.style.height = `${this.rows.length * height}px`;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / height) - OVERSCAN);
    const last = Math.min(this.rows.length, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + OVERSCAN);
    const shown = this.rows.slice(first, last);
    this.measure(shown);
    const holder = shown.some((row) => row.key === this.active) ? this.active : shown[0]?.key;
    keyed(this.canvas, shown.map((row, at) => ({ row, at: first + at, holds: row.key === holder })), ({ row }) => row.key,
      () => this.createRow(), (element, item) => this.updateRow(element, item, height));
  }

  createRow() {
    return h("div", { role: "row", class: "row" }, this.columns.map((column) =>
      h("div", { role: "gridcell", class: "cell", "data-align": column.align, "data-key": column.key, "data-title": column.title }, column.create())));
  }

  updateRow(element, { row, at, holds }, height) {
    setAttribute(element, "data-key", row.key);
    setAttribute(element, "aria-rowindex", at + 2);
    const transform = `translateY(${at * height}px)`;
    if (element.style.transform !== transform) element.style.transform = transform;
    if (element.shownRow !== row) {
      element.shownRow = row;
      this.columns.forEach((column, index) => column.update(element.children[index].firstChild, row));
    }
    for (const link of element.querySelectorAll("a")) setAttribute(link, "tabindex", holds ? "0" : "-1");
  }

  activate(key) {
    if (!key || key === this.active) return;
    this.active = key;
    this.draw();
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = this.rows.findIndex((row) => row.key === this.active);
    this.focus(Math.min(this.rows.length - 1, Math.max(0, at + steps[event.key])));
  }

  focus(at) {
    const height = this.rowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (at * height < scrollTop) this.scroller.scrollTop = at * height;
    if ((at + 1) * height > scrollTop + clientHeight) this.scroller.scrollTop = (at + 1) * height - clientHeight;
    this.active = this.rows[at].key;
    this.draw();
    for (const row of this.canvas.children) if (row.dataset.key === this.active) row.querySelector("a")?.focus({ preventScroll: true });
  }
}

/** "3 of 120 devices", for above a table. */
export const counted = (shown, all, noun) => (shown === all ? plural(all, noun) : `${shown.toLocaleString("en")} of ${plural(all, noun)}`);

/** Text that may be cut: the whole of it is shown on request. */
export function setTitled(cell, text) {
  setText(cell, text);
  setAttribute(cell, "title", text ? String(text).slice(0, 500) : null);
}
