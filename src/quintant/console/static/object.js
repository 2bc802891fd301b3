// The page of one object: what is wrong with it and what to do, events, children, YAML, and who changed which field.

import { foreign, h, keyed, rowsOf, setLink, setShown, setText } from "./dom.js";
import { createChange, createEvent, sortedChanges, updateChange, updateEvent } from "./lists.js";
import { topic } from "./store.js";
import { copyButton, longText, setLongText } from "./text.js";
import { clockTime, setState, setTime, simulatedTag, stateRank, stateTag, timeAgo } from "./words.js";

const PAGE = 50; // items of a list before "show all": an object may have 500 conditions

export function createObject(params) {
  const path = [params.group, params.version, params.plural, params.namespace, params.name];
  const name = `object/${path.join("/")}`;
  const view = { title: params.name, topics: [name], params, uid: null };
  view.kind = h("p", { class: "kicker" });
  view.heading = h("h1", {}, foreign(params.name));
  view.state = stateTag("unknown");
  view.simulated = simulatedTag();
  view.said = longText("", "p");
  view.facts = h("dl", { class: "facts" });
  view.gone = h("p", { class: "notice", "data-kind": "gone", hidden: "" });
  view.again = h("p", { class: "notice", "data-kind": "again", hidden: "" });
  view.missing = h("p", { class: "empty", hidden: "" });
  view.conditions = section("Conditions", "No condition: its controller has not said anything about it yet.", createCondition, updateCondition);
  view.children = section("Children", "It owns nothing.", createChild, updateChild);
  view.events = section("Events", "No event about it in the last hour.", createEvent, updateEvent);
  view.history = section("History", "No change since the console looks. Edit it, and who changed which field stands here.", createChange, updateChange);
  view.yaml = createYaml();
  view.body = h("div", { class: "stack" }, view.conditions.element,
    h("div", { class: "columns" }, h("div", { class: "stack" }, view.history.element), h("div", { class: "stack" }, view.children.element, view.events.element)), view.yaml.element);
  view.element = h("article", { class: "object" },
    h("header", { class: "object-head" }, view.kind, view.heading, h("div", { class: "object-state" }, view.state, view.simulated, view.said), view.facts),
    view.gone, view.again, view.missing, view.body);
  view.update = () => update(view, topic(name));
  return view;
}

function section(title, emptyText, create, updateItem) {
  const list = h("ul", { class: `list list-${title.toLowerCase()}` });
  const count = h("span", { class: "numbers kind-count" });
  const all = h("button", { type: "button", class: "quiet", hidden: "" });
  const empty = h("p", { class: "empty" }, emptyText);
  const made = { list, count, all, empty, create, updateItem, items: [], open: false };
  made.element = h("section", { class: "card", "aria-label": title }, h("h2", {}, title, count), empty, list, all);
  all.addEventListener("click", () => {
    made.open = true;
    show(made, made.items, true);
  });
  return made;
}

function show(made, items, ready) {
  made.items = items;
  const shown = made.open ? items : items.slice(0, PAGE);
  keyed(made.list, shown, (row) => row.key, made.create, made.updateItem);
  setText(made.count, items.length ? String(items.length) : "");
  setShown(made.empty, ready && items.length === 0);
  setShown(made.list, items.length > 0);
  setShown(made.all, shown.length < items.length);
  setText(made.all, `Show all ${items.length}`);
}

function update(view, known) {
  const { ready, refused } = known;
  const object = known.rows.get("object");
  setShown(view.missing, (ready && !object) || Boolean(refused));
  setText(view.missing, refused ? refused.reason || `The console answers ${refused.status}.` : "There is no such object. When it is created, it appears here.");
  setShown(view.body, Boolean(object) && !refused);
  setShown(view.state, Boolean(object));
  setShown(view.simulated, Boolean(object?.simulated));
  setText(view.kind, object?.kind ?? view.params.plural);
  if (!object) return;
  updateIdentity(view, object);
  setState(view.state, object.state);
  setLongText(view.said, object.sentence);
  updateFacts(view.facts, object);
  show(view.conditions, rowsOf(known, "condition/").sort(byUrgency), ready);
  show(view.children, rowsOf(known, "child/").sort((one, other) => stateRank(one.state) - stateRank(other.state) || (one.kind + one.name < other.kind + other.name ? -1 : 1)), ready);
  show(view.events, rowsOf(known, "event/").sort((one, other) => (one.time < other.time ? 1 : -1)), ready);
  show(view.history, sortedChanges(rowsOf(known, "change/")), ready);
  setText(view.yaml.code, object.yaml);
}

/** Two objects of one name, one after the other, are two objects. */
function updateIdentity(view, object) {
  if (view.uid && view.uid !== object.uid) {
    setText(view.again, `This is another object of the same name, created ${clockTime(object.created)}: the one that was here is gone.`);
    setShown(view.again, true);
  }
  view.uid = object.uid;
  setShown(view.gone, Boolean(object.deleted));
  if (object.deleted) setText(view.gone, `Deleted at ${clockTime(object.deleted)}. What you see is what it was.`);
}

function updateFacts(list, object) {
  const labels = Object.entries(object.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const notes = Object.entries(object.annotations ?? {}).map(([name, value]) => `${name}: ${value}`);
  const facts = [["Namespace", object.namespace], ["Created", object.created], ["Labels", labels.join(", ")], ["Annotations", notes.join("\n")], ["UID", object.uid]];
  keyed(list, facts.filter(([, value]) => value), ([title]) => title, createFact, (element, [, value]) => updateFact(element, value));
}

const createFact = ([title]) =>
  h("div", { "data-fact": title }, h("dt", {}, title), h("dd", {}, title === "Created" ? h("span", {}, timeAgo(""), " ago") : longText("")));

function updateFact(element, value) {
  const content = element.children[1].firstChild;
  if (element.dataset.fact === "Created") setTime(content.firstChild, value);
  else setLongText(content, value);
}

// ── conditions ──

const byUrgency = (one, other) => stateRank(conditionState(one)) - stateRank(conditionState(other)) || (one.type < other.type ? -1 : 1);

const GOOD = /Ready|Available|Healthy|Synced|Succeeded|Valid|Placed|Complete/;

/** The server says what state a condition is; where it does not, only those are judged that are good when true. */
function conditionState({ state, status, type }) {
  if (state) return state;
  return GOOD.test(type) ? { True: "well", False: "broken" }[status] ?? "unknown" : "unknown";
}

const createCondition = () =>
  h("li", { class: "condition" },
    h("p", { class: "condition-head" }, stateTag("unknown"), h("bdi", { class: "condition-type" }), h("span", { class: "condition-status" }), h("span", { class: "since" }, "since ", timeAgo(""))),
    longText("", "p"), h("p", { class: "condition-meaning" }, foreign("")), h("p", { class: "condition-advice" }, h("strong", {}, "What to do: "), foreign("")), h("p", {}, h("a", {}, "Read more")));

function updateCondition(element, row) {
  const [head, message, meaning, advice, docs] = element.children;
  const [tag, type, status, since] = head.children;
  setState(tag, conditionState(row));
  setText(type, row.type);
  setText(status, [row.status, row.reason].filter(Boolean).join(", "));
  setTime(since.lastChild, row.since);
  setShown(since, Boolean(row.since));
  setLongText(message, row.message);
  setShown(message, Boolean(row.message));
  setText(meaning.firstChild, row.meaning);
  setShown(meaning, Boolean(row.meaning));
  setText(advice.lastChild, row.advice);
  setShown(advice, Boolean(row.advice));
  setLink(docs.firstChild, row.docs);
  setShown(docs, docs.firstChild.hasAttribute("href"));
}

// ── children, YAML ──

const createChild = () => h("li", { class: "child" }, stateTag("unknown"), h("span", { class: "child-name" }, h("a", {}, foreign("")), simulatedTag()), longText(""));

function updateChild(element, row) {
  const [tag, name, said] = element.children;
  setState(tag, row.state);
  setText(name.firstChild.firstChild, `${row.kind} ${row.name}`);
  setLink(name.firstChild, row.link);
  setShown(name.lastChild, Boolean(row.simulated));
  setLongText(said, row.sentence);
}

function createYaml() {
  const code = h("code", {});
  const details = h("details", {}, h("summary", {}, "YAML"), h("pre", { tabindex: "0" }, code));
  const element = h("section", { class: "card yaml", "aria-label": "YAML" }, details, copyButton("Copy YAML", () => code.textContent));
  return { element, code };
}

