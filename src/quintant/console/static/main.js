// The shell: which view the address names, the navigation beside it, and how fresh all of it is.

import { foreign, h, keyed, rowsOf, setAttribute, setLink, setShown, setText } from "./dom.js";
import { createEdgemap } from "./edgemap.js";
import { createChanges, createEvents, createNodes } from "./lists.js";
import { createObject } from "./object.js";
import { createOverview } from "./overview.js";
import { createPanel } from "./panel.js";
import { route, start } from "./router.js";
import { checkSilence, follow, listen, liveness, topic } from "./store.js";
import { duration, number, plural, serverNow, STATES, stateShape, setShape, tellTimes } from "./words.js";

const CHECK_MS = 500;
const GRACE_MS = 3000;
const MOST_NOTICES = 3;
const MOST_NAMES = 3; // of kinds in one of them
const MOST_PAUSE_MS = 400;
const PAUSE_FACTOR = 4; // at most a fifth of the time is spent on bringing a view up to date
const VIEWS = { overview: createOverview, panel: createPanel, edgemap: createEdgemap, object: createObject, changes: createChanges, events: createEvents, nodes: createNodes };
const PAGES = [["/edgemap", "edgeMap"], ["/nodes", "Nodes"], ["/events", "Events"], ["/changes", "Changes"]];

const byId = (id) => document.getElementById(id);
let current = null;
let currentPath = null;

function render() {
  if (location.pathname !== currentPath) mount();
  current.update();
  showShell();
}

function mount() {
  const first = currentPath === null;
  currentPath = location.pathname;
  current?.leave?.();
  const { name, params } = route();
  current = (VIEWS[name] ?? createMissing)(params);
  byId("view").replaceChildren(current.element);
  follow(["overview", ...current.topics.filter((each) => each !== "overview")], current.prepare);
  byId("plain").setAttribute("href", `/plain${currentPath === "/" ? "" : currentPath}`);
  if (first) return;
  scrollTo(0, 0);
  const heading = current.element.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

function createMissing() {
  return { title: "Not here", topics: [], update() {}, element: h("article", {}, h("h1", {}, "Nothing has this address"), h("p", { class: "empty" }, "Begin at the ", h("a", { href: "/" }, "overview"), ".")) };
}

// ── navigation ──

function showShell() {
  const { meta } = topic("overview");
  setText(byId("cluster"), meta.cluster ?? "");
  setText(byId("versions"), [meta.console_version && `Console ${meta.console_version}`, meta.server_version && `Kubernetes ${meta.server_version}`].filter(Boolean).map((part) => `${part}.`).join(" "));
  const systems = rowsOf(topic("overview"), "system/").sort((one, other) => (one.name < other.name ? -1 : 1));
  const items = [{ href: "/", text: "Overview" }, ...systems.map(systemItem), ...PAGES.map(([href, text]) => ({ href, text }))];
  items[1 + systems.length].begins = true;
  keyed(byId("nav"), items, (item) => item.href, createItem, updateItem);
  showCurrent();
  const title = `${current.title} · Quintant`;
  if (document.title !== title) document.title = title;
}

let shownCurrent = "";

/** On a narrow page the navigation is a line that scrolls: what is current has to be in sight. */
function showCurrent() {
  const link = byId("nav").querySelector("[aria-current]");
  const shown = `${location.pathname} ${byId("nav").children.length}`; // more items move it
  if (!link || shownCurrent === shown) return;
  shownCurrent = shown;
  const line = link.closest("nav");
  line.scrollLeft = link.offsetLeft - (line.clientWidth - link.offsetWidth) / 2;
}

function systemItem(row, at) {
  const worst = STATES.find((state) => row.counts?.[state] > 0) ?? "well";
  return { href: `/systems/${encodeURIComponent(row.name)}`, text: row.name, state: row.installed ? worst : null, broken: row.installed ? row.counts?.broken ?? 0 : 0, begins: at === 0, system: true };
}

const createItem = () => h("li", {}, h("a", {}, foreign(""), stateShape("well"), h("span", { class: "nav-count" })));

function updateItem(element, { href, text, state, broken, begins, system }) {
  const link = element.firstChild;
  const [name, shape, count] = link.children;
  setLink(link, href);
  setAttribute(link, "aria-current", location.pathname === href || location.pathname.startsWith(`${href}/`) ? "page" : null);
  setAttribute(element, "data-begins", begins ? "true" : null);
  setAttribute(element, "data-absent", system && !state ? "true" : null);
  setText(name, text);
  shape.toggleAttribute("hidden", !state);
  if (state) setShape(shape, state);
  setText(count, broken ? `${number(broken)} broken` : state ? "" : system ? "not installed" : "");
}

// ── how fresh it is ──

function showLiveness() {
  checkSilence();
  const { state, heard, status } = liveness;
  const stale = state === "stale";
  setAttribute(byId("live"), "data-live", state === "live" && sourceNotices().length ? "partly" : state);
  const silent = state === "live" ? silentSources() : [];
  const words = { live: "Live", connecting: "Connecting", stale: "Not live" };
  setText(byId("live-word"), nothingLive(silent) ? words.stale : silent.length ? "Partly live" : words[state]);
  setText(byId("live-seconds"), stale ? ` since ${duration(Date.now() - heard)}` : "");
  const notices = stale ? [{ key: "console", text: `Not live since ${duration(Date.now() - heard)}: ${whyStale(status)}`, end: "What you see is from then. It continues by itself." }] : [];
  if (!stale) notices.push(...sourceNotices());
  keyed(byId("notices"), notices, ({ key }) => key, createNotice, updateNotice);
}

function whyStale(status) {
  if (status === 401) return "you are not signed in any more; open the console's link with its token again.";
  if (status === 403) return "you may not read this.";
  if (status === 503) return "the console has too many viewers.";
  return `${liveness.reason || "the console has said nothing"}.`;
}

/** Sources that have not been live for a moment: one that is being read for the first time is none. */
const silentSources = () => Object.entries(liveness.sources).filter(([, source]) => source?.live === false && !(serverNow() - Date.parse(source.since) < GRACE_MS));

const nothingLive = (silent) => silent.length > 0 && silent.length === Object.keys(liveness.sources).length;

/** A line for each reason, with what it is true of. */
function sourceNotices() {
  const silent = silentSources();
  const byReason = new Map();
  for (const [name, { since, reason }] of silent) byReason.set(reason, [...(byReason.get(reason) ?? []), { name, since }]);
  const end = nothingLive(silent) ? "What you see is from then. It continues by itself." : "The rest is live.";
  const groups = [...byReason].sort(([, one], [, other]) => other.length - one.length);
  const notices = groups.slice(0, MOST_NOTICES).map(([reason, sources]) => ({ key: `source ${reason}`, text: noticeText(String(reason ?? ""), sources, nothingLive(silent) && groups.length === 1), end }));
  const others = groups.slice(MOST_NOTICES).flatMap(([, sources]) => sources.map(({ name }) => name));
  if (others.length) notices.push({ key: "others", text: `Not live either: ${others.join(", ").slice(0, 500)}.`, end: "" });
  return notices;
}

function noticeText(reason, sources, all) {
  const began = Math.min(...sources.map(({ since }) => Date.parse(since)).filter(Number.isFinite));
  const since = Number.isFinite(began) ? ` since ${duration(serverNow() - began)}` : "";
  const left = sources.length - MOST_NAMES;
  const names = `${sources.slice(0, MOST_NAMES).map(({ name }) => name).join(", ")}${left > 0 ? ` and ${plural(left, "other kind")}` : ""}`;
  return `${all ? "Nothing is live" : `${names}: not live`}${since}${reason ? `: ${reason.slice(0, 300)}` : ""}.`;
}

const createNotice = () => h("p", { class: "notice", "data-kind": "stale" }, stateShape("broken"), foreign(""), h("span", { class: "notice-end" }));

function updateNotice(element, { text, end }) {
  setText(element.children[1], text);
  setText(element.children[2], end);
}

// ── beginning ──

let due = 0;
let waiting = null;

/** Bring the view up to date; one that takes long is not asked again at once, so that the page stays quick. */
function updateView() {
  clearTimeout(waiting);
  waiting = null;
  const began = performance.now();
  current.update();
  showShell();
  due = performance.now() + Math.min(MOST_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began));
}

function news(changes) {
  if (changes.has("")) showLiveness();
  if (!["overview", ...current.topics].some((name) => changes.has(name))) return;
  const pause = due - performance.now();
  if (pause <= 0) updateView();
  else waiting ??= setTimeout(updateView, pause);
}

listen(news);
start(render);
setInterval(() => {
  showLiveness();
  tellTimes();
}, CHECK_MS);
document.addEventListener("visibilitychange", showLiveness);
setShown(byId("view"), true);
