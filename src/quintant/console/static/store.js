// What the page knows: rows per topic as the stream brings them, how fresh they are, and who wants to hear.

import { setServerTime } from "./words.js";

const SILENT_MS = 4000; // two heartbeats missed: not live
const SLEEP_MS = 30000; // a hidden tab gives its connection back

const worker = new Worker("/static/stream_worker.js");
const topics = new Map();
const arriving = new Map();
const listeners = new Set();
const changed = new Set();
let prepare = () => {};

export const liveness = { state: "connecting", heard: Date.now(), reason: "", status: 0, sources: {} };

const EMPTY = { rows: new Map(), meta: {}, version: 0, ready: false, refused: null };

/** A topic as it is known now. */
export const topic = (name) => topics.get(name) ?? EMPTY;

/** Call with the Set of topics that changed, once per frame. */
export const listen = (listener) => listeners.add(listener);

/** Follow these topics and no others; `prepareRow` is called for each row as it comes, in small pieces. */
export function follow(names, prepareRow = () => {}) {
  prepare = prepareRow;
  const same = names.length === topics.size && names.every((name) => topics.has(name));
  if (same) return;
  for (const name of [...topics.keys()]) if (!names.includes(name)) topics.delete(name);
  for (const name of names) if (!topics.has(name)) topics.set(name, { ...EMPTY, rows: new Map() });
  worker.postMessage({ type: "topics", topics: names });
}

worker.onmessage = ({ data }) => {
  const take = { rows: takeRows, change: takeChange, beat: takeBeat, heard: takeHeard, lost: takeLost, refused: takeRefused }[data.type];
  take(data);
};

function takeHeard() {
  liveness.heard = Date.now();
  liveness.reason = "";
  liveness.status = 0;
  if (liveness.state !== "live") setLive("live");
}

function takeBeat({ now, sources }) {
  setServerTime(now);
  liveness.sources = sources;
  mark("");
}

function takeLost({ reason, status }) {
  liveness.reason = reason;
  liveness.status = status;
  checkSilence();
  mark("");
}

function takeRefused({ topic: name, status, reason }) {
  const known = topics.get(name);
  if (!known) return;
  known.refused = { status, reason };
  known.ready = true;
  mark(name);
}

function takeRows({ topic: name, version, meta, rows, first, last }) {
  if (!topics.has(name)) return;
  if (first) arriving.set(name, new Map());
  const gathered = arriving.get(name);
  for (const [key, row] of rows) gathered.set(key, keyedRow(key, row));
  if (!last) return;
  arriving.delete(name);
  topics.set(name, { rows: gathered, meta, version, ready: true, refused: null });
  mark(name);
}

function takeChange({ topic: name, version, set, remove, meta }) {
  const known = topics.get(name);
  if (!known) return;
  known.version = version;
  for (const key of remove) known.rows.delete(key);
  for (const [key, row] of set) known.rows.set(key, keyedRow(key, row));
  if (Object.keys(meta).length) known.meta = { ...known.meta, ...meta };
  mark(name);
}

// A row carries its key, and is another value when it changes: what is computed of it can be kept by it.
function keyedRow(key, row) {
  const value = row && typeof row === "object" ? row : {};
  value.key = key;
  prepare(value);
  return value;
}

// ── telling the views, once per frame ──

let frame = null;

function mark(name) {
  changed.add(name);
  frame ??= requestAnimationFrame(tell);
}

function tell() {
  frame = null;
  const news = new Set(changed);
  changed.clear();
  for (const listener of listeners) listener(news);
}

// ── how fresh it is ──

let checked = Date.now();

/** Notice silence; to be called often. Where it was not called for long, the machine itself slept. */
export function checkSilence() {
  const paused = Date.now() - checked > SILENT_MS;
  checked = Date.now();
  if (paused && !document.hidden) reconnect();
  if (liveness.state === "live" && Date.now() - liveness.heard > SILENT_MS) setLive("stale");
  if (liveness.state === "connecting" && Date.now() - liveness.heard > SILENT_MS) setLive("stale");
}

function setLive(state) {
  liveness.state = state;
  mark("");
}

let sleeping = null;
let asleep = false;

document.addEventListener("visibilitychange", () => {
  clearTimeout(sleeping);
  if (document.hidden) sleeping = setTimeout(sleep, SLEEP_MS);
  else wake();
});

function sleep() {
  asleep = true;
  worker.postMessage({ type: "sleep" });
}

function wake() {
  // A tab that slept, or whose timers did, has a connection of unknown age.
  if (asleep || Date.now() - liveness.heard > SILENT_MS) reconnect();
  checked = Date.now();
  checkSilence();
}

function reconnect() {
  asleep = false;
  worker.postMessage({ type: "wake" });
}

// A page that the browser kept aside and shows again.
addEventListener("pageshow", (event) => event.persisted && wake());
