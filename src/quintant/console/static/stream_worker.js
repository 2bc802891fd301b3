// The stream of server-sent events, read beside the page's own thread: parsing ten thousand rows
// must not make the page wait. Versions are checked here; what follows one another quickly is merged.
//
//   page -> {type: "topics", topics: [..]} | {type: "sleep"} | {type: "wake"}
//   page <- {type: "rows", topic, version, meta, rows: [[key, row], ..], first, last}   a snapshot, in pieces
//           {type: "change", topic, version, meta, set: [[key, row], ..], remove: [key, ..]}
//           {type: "beat", now, sources} | {type: "heard"} | {type: "lost", reason} | {type: "refused", topic, status, reason}

const PIECE_ROWS = 400;
const MERGE_MS = 100;
const RETRY_MS = [250, 1000, 2000, 4000];
const SILENCE_MS = 8000; // a connection that says nothing for so long is taken for dead

let topics = [];
let source = null;
let asleep = false;
let failures = 0;
let retry = null;
let silence = null;
let merging = null;
const versions = new Map();
const pending = new Map();

onmessage = ({ data }) => {
  if (data.type === "topics") topics = data.topics;
  asleep = data.type === "sleep";
  failures = 0;
  if (asleep) close();
  else open();
};

function close() {
  clearTimeout(retry);
  clearTimeout(silence);
  source?.close();
  source = null;
  versions.clear();
  pending.clear();
}

function open() {
  close();
  if (!topics.length) return;
  const query = topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join("&");
  const opened = new EventSource(`/api/stream?${query}`);
  source = opened;
  const listen = (name, take) =>
    opened.addEventListener(name, (event) => {
      if (source !== opened) return;
      heard();
      taken(take, event.data);
    });
  opened.onopen = () => source === opened && heard();
  opened.onerror = () => source === opened && lost();
  listen("snapshot", takeSnapshot);
  listen("change", takeChange);
  listen("heartbeat", (beat) => post({ type: "beat", now: beat.now, sources: beat.sources ?? {} }));
  listen("refused", (refused) => post({ ...refused, type: "refused" }));
  watchSilence();
}

function taken(take, text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    again("the console sent what is no JSON");
    return;
  }
  take(value);
}

function heard() {
  failures = 0;
  watchSilence();
  post({ type: "heard" });
}

function watchSilence() {
  clearTimeout(silence);
  silence = setTimeout(() => again("the console has said nothing"), SILENCE_MS);
}

async function lost() {
  close();
  const wait = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
  failures += 1;
  const reason = await whyLost();
  if (source || asleep) return; // opened again meanwhile
  post({ type: "lost", ...reason });
  clearTimeout(retry);
  retry = setTimeout(open, wait);
}

function again(reason) {
  post({ type: "lost", reason, status: 0 });
  close();
  retry = setTimeout(open, RETRY_MS[0]);
}

/** What a stream does not say: with which status it was refused. */
async function whyLost() {
  try {
    const answer = await fetch(`/api/topics/${topics[0]}`, { method: "HEAD", signal: AbortSignal.timeout(3000) });
    return { status: answer.ok ? 0 : answer.status, reason: answer.ok ? "the connection broke" : `the console answers ${answer.status}` };
  } catch {
    return { status: 0, reason: "the console does not answer" };
  }
}

function takeSnapshot({ topic, version, rows, meta }) {
  versions.set(topic, version);
  pending.delete(topic);
  const entries = Object.entries(rows);
  for (let at = 0; at === 0 || at < entries.length; at += PIECE_ROWS) {
    const last = at + PIECE_ROWS >= entries.length;
    post({ type: "rows", topic, version, meta: last ? meta ?? {} : null, rows: entries.slice(at, at + PIECE_ROWS), first: at === 0, last });
  }
}

function takeChange({ topic, version, set, remove, meta }) {
  if (version !== versions.get(topic) + 1) {
    again("a change was missed");
    return;
  }
  versions.set(topic, version);
  const merged = pending.get(topic) ?? { set: new Map(), remove: new Set(), meta: {} };
  for (const key of remove ?? []) {
    merged.set.delete(key);
    merged.remove.add(key);
  }
  for (const [key, row] of Object.entries(set ?? {})) {
    merged.remove.delete(key);
    merged.set.set(key, row);
  }
  Object.assign(merged.meta, meta);
  pending.set(topic, merged);
  merging ??= setTimeout(flush, MERGE_MS);
}

function flush() {
  merging = null;
  for (const [topic, { set, remove, meta }] of pending) {
    post({ type: "change", topic, version: versions.get(topic), set: [...set], remove: [...remove], meta });
  }
  pending.clear();
}

function post(message) {
  postMessage(message);
}
