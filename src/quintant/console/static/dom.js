// Elements from values. Data becomes text and nothing else: no markup is ever parsed here.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; strings become text, null and false nothing. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  for (const child of children.flat()) if (child || child === 0) element.append(child);
  return element;
}

/** Set an attribute where it differs; functions are listeners, null and false take it away. */
export function setAttribute(element, name, value) {
  if (typeof value === "function") element.addEventListener(name, value);
  else if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Set the text of an element where it differs: what is selected in it stays so otherwise. */
export function setText(element, text) {
  const value = text === null || text === undefined ? "" : String(text);
  if (element.textContent !== value) element.textContent = value;
}

/** Show or hide an element. */
export function setShown(element, shown) {
  if (element.hidden === shown) element.hidden = !shown;
}

/** Foreign text: isolated, so that its direction does not turn what stands beside it. */
export function foreign(text, attributes = {}) {
  return h("bdi", attributes, text === null || text === undefined ? "" : String(text));
}

/** Foreign text inside an attribute, where no element can isolate it. */
export function isolated(text) {
  return `\u2068${text}\u2069`;
}

/** Whether a link may be followed: a page of this console, or of the web. */
export function safeLink(link) {
  if (typeof link !== "string") return null;
  if (/^\/(?![/\\])/.test(link)) return link;
  try {
    const url = new URL(link);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

/** Let a link lead somewhere, or be text where that is not safe. */
export function setLink(anchor, link) {
  const safe = safeLink(link);
  setAttribute(anchor, "href", safe);
  const outside = safe !== null && !safe.startsWith("/");
  setAttribute(anchor, "rel", outside ? "noopener noreferrer" : null);
  setAttribute(anchor, "target", outside ? "_blank" : null);
}

const keptChildren = new WeakMap();

/**
 * Make an element's children those of the items: by key, so that what stays is the same node.
 * `create(item)` makes a node, `update(node, item)` brings it up to date (called for new ones too).
 */
export function keyed(parent, items, keyOf, create, update) {
  const kept = keptChildren.get(parent) ?? new Map();
  const wanted = new Map();
  for (const item of items) wanted.set(keyOf(item), item);
  for (const [key, node] of kept) {
    if (!wanted.has(key)) {
      if (node.parentNode === parent) node.remove(); // another may have taken it
      kept.delete(key);
    }
  }
  let cursor = parent.firstChild;
  for (const [key, item] of wanted) {
    let node = kept.get(key);
    if (!node) kept.set(key, (node = create(item)));
    update(node, item);
    if (node === cursor) cursor = cursor.nextSibling;
    else insertKeepingFocus(parent, node, cursor);
  }
  keptChildren.set(parent, kept);
}

function insertKeepingFocus(parent, node, before) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  parent.insertBefore(node, before);
  if (focused) focused.focus({ preventScroll: true });
}

/** The rows of a topic whose keys begin so; each has its `key`. */
export function rowsOf(topic, prefix = "") {
  const rows = [];
  for (const [key, row] of topic.rows) if (key.startsWith(prefix)) rows.push(row);
  return rows;
}
