// Addresses: every view has one, its filters are in it, and it is the link to share.

const ROUTES = [
  ["overview", /^\/$/, []],
  ["panel", /^\/systems\/([^/]+)$/, ["system"]],
  ["edgemap", /^\/edgemap$/, []],
  ["object", /^\/objects\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/, ["group", "version", "plural", "namespace", "name"]],
  ["changes", /^\/changes$/, []],
  ["changes", /^\/changes\/([^/]+)$/, ["namespace"]],
  ["events", /^\/events$/, []],
  ["nodes", /^\/nodes$/, []],
];

let changed = () => {};

/** The view of the address, with what is in its path: {name, params}; name is "" for none of ours. */
export function route(path = location.pathname) {
  for (const [name, pattern, names] of ROUTES) {
    const match = pattern.exec(path);
    if (match) {
      const values = match.slice(1).map(decoded);
      return { name, params: Object.fromEntries(names.map((each, at) => [each, values[at]])) };
    }
  }
  return { name: "", params: {} };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A parameter of the address. */
export const query = (name) => new URLSearchParams(location.search).get(name) ?? "";

/** The address with other parameters; an empty one is left out. */
export function withQuery(changes, path = location.pathname) {
  const parameters = new URLSearchParams(path === location.pathname ? location.search : "");
  for (const [name, value] of Object.entries(changes)) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  const text = parameters.toString();
  return text ? `${path}?${text}` : path;
}

/** Change parameters of the address. While something is typed, the last entry of the history is replaced. */
export function setQuery(changes, { replace = false } = {}) {
  go(withQuery(changes), { replace });
}

/** Go to a view. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  changed();
}

/** Follow addresses: `render` is called whenever there is another one. */
export function start(render) {
  changed = render;
  addEventListener("popstate", render);
  document.addEventListener("click", follow);
  render();
}

function follow(event) {
  const anchor = event.target.closest?.("a[href]");
  const other = event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (!anchor || other || anchor.target || anchor.origin !== location.origin) return;
  if (anchor.hash && anchor.pathname === location.pathname) return;
  if (!route(anchor.pathname).name) return;
  event.preventDefault();
  go(anchor.pathname + anchor.search);
}
