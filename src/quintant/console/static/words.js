// States, times and figures as people read them: each state has a shape and a word besides its colour.

import { h, setAttribute, setText, svg } from "./dom.js";

export const STATES = ["broken", "working", "unknown", "well"];

/** The order in which states are of interest. */
export const stateRank = (state) => {
  const rank = STATES.indexOf(state);
  return rank < 0 ? STATES.indexOf("unknown") : rank;
};

/** One of the four words, whatever was sent. */
export const knownState = (state) => (STATES.includes(state) ? state : "unknown");

const SHAPES = {
  well: ["M8 1.2a6.8 6.8 0 1 0 0 13.6A6.8 6.8 0 0 0 8 1.2Z", "m4.9 8.2 2.2 2.2 4-4.6"],
  working: ["M8 1.2 14.8 8 8 14.8 1.2 8Z", "M8 5v3.2l2 1.6"],
  broken: ["M8 1 15.4 14.4H.6Z", "M8 6v4M8 12v.4"],
  unknown: ["M2 2h12v12H2Z", "M6.1 6.2a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.7.6-.7 1.1M8 11.4v.4"],
};

/** The shape of a state, without its word: for beside the word. */
export function stateShape(state) {
  const known = knownState(state);
  const [body, mark] = SHAPES[known];
  return svg(
    "svg",
    { class: "shape", viewBox: "0 0 16 16", "data-state": known, "aria-hidden": "true" },
    svg("path", { class: "shape-body", d: body }),
    svg("path", { class: "shape-mark", d: mark }),
  );
}

export function setShape(shape, state) {
  const known = knownState(state);
  if (shape.dataset.state === known) return;
  shape.dataset.state = known;
  const [body, mark] = SHAPES[known];
  shape.children[0].setAttribute("d", body);
  shape.children[1].setAttribute("d", mark);
}

/** A state as shape and word. */
export function stateTag(state) {
  const tag = h("span", { class: "state" }, stateShape(state), h("span", { class: "state-word" }));
  setState(tag, state);
  return tag;
}

export function setState(tag, state) {
  const known = knownState(state);
  setAttribute(tag, "data-state", known);
  setShape(tag.firstChild, known);
  setText(tag.lastChild, known);
}

/** Marks what no machine stands behind. */
export const simulatedTag = () =>
  h("span", { class: "tag", title: "no machine stands behind it" }, "simulated");

// ── times: the server's clock, since the browser's may be wrong ──

let skew = 0;

export const serverNow = () => Date.now() + skew;

/** Learn the server's time. */
export function setServerTime(text) {
  const at = Date.parse(text);
  if (Number.isFinite(at)) skew = at - Date.now();
}

/** How long something takes or took, in one unit. */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** The time of day, with the date where it is another day. */
export function clockTime(text) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  const clock = at.toLocaleTimeString("en-GB");
  const today = new Date(serverNow()).toDateString() === at.toDateString();
  return today ? clock : `${at.toLocaleDateString("en-CA")} ${clock}`;
}

/** An element that says how long ago a time is, and keeps saying it. */
export function timeAgo(text, attributes = {}) {
  const element = h("time", { class: "numbers", ...attributes });
  setTime(element, text);
  return element;
}

export function setTime(element, text) {
  setAttribute(element, "datetime", text || null);
  setAttribute(element, "title", text || null);
  tellTime(element);
}

function tellTime(element) {
  const at = Date.parse(element.getAttribute("datetime") ?? "");
  if (!Number.isFinite(at)) return setText(element, "");
  const ago = serverNow() - at;
  return setText(element, ago < 0 ? "now" : duration(ago));
}

/** Bring every time on the page up to date. */
export function tellTimes() {
  for (const element of document.querySelectorAll("time[datetime]")) tellTime(element);
}

// ── figures ──

const NUMBER = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const number = (value) => NUMBER.format(value);

/** A measured value: three digits are enough. */
export const figure = (value) =>
  Math.abs(value) >= 1000 ? NUMBER.format(Math.round(value)) : SHORT.format(value);

/** A distance in metres, in words. */
export const distance = (meters) =>
  typeof meters !== "number" ? meters : meters < 1000 ? `${figure(Math.round(meters))} m` : `${figure(meters / 1000)} km`;

export function bytes(value) {
  if (typeof value !== "number") return value ?? "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let left = value;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${SHORT.format(left)} ${units[unit]}`;
}

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
