// Figures drawn: small plots over the last minutes as SVG, with the last value in words, and bars of what a node has.

import { h, setAttribute, setText, svg } from "./dom.js";
import { bytes, duration, figure } from "./words.js";

const WIDTH = 240;
const HEIGHT = 56;
const PAD = 4;

/** An empty plot; `updatePlot` fills it. */
export function createPlot() {
  const line = svg("path", { class: "plot-line" });
  const area = svg("path", { class: "plot-area" });
  const end = svg("circle", { class: "plot-end", r: 3 });
  const drawing = svg("svg", { class: "plot-drawing", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, area, line, end);
  const element = h("figure", { class: "plot" },
    h("figcaption", {}, h("bdi", { class: "plot-title" }), h("span", { class: "plot-value numbers" })), drawing,
    h("p", { class: "plot-range numbers" }, h("span"), h("span")));
  element.parts = { line, area, end, drawing };
  return element;
}

export function updatePlot(element, { title, unit, points }) {
  const { line, area, end, drawing } = element.parts;
  const drawn = (points ?? []).filter(([at, value]) => Number.isFinite(at) && Number.isFinite(value));
  setText(element.querySelector(".plot-title"), title);
  const last = drawn.at(-1)?.[1];
  const words = last === undefined ? "no figures yet" : `${figure(last)} ${unit ?? ""}`.trim();
  setText(element.querySelector(".plot-value"), words);
  const scale = scaled(drawn);
  const path = scale.points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  setAttribute(line, "d", path);
  setAttribute(area, "d", path && `${path}L${scale.points.at(-1)[0].toFixed(1)} ${HEIGHT}L${scale.points[0][0].toFixed(1)} ${HEIGHT}Z`);
  setAttribute(end, "cx", scale.points.at(-1)?.[0].toFixed(1) ?? -9);
  setAttribute(end, "cy", scale.points.at(-1)?.[1].toFixed(1) ?? -9);
  setAttribute(drawing, "aria-label", `${title}: ${words}${drawn.length > 1 ? `, between ${figure(scale.least)} and ${figure(scale.most)}` : ""}`);
  const [from, to] = element.querySelector(".plot-range").children;
  setText(from, drawn.length > 1 ? `${duration((drawn.at(-1)[0] - drawn[0][0]) * 1000)} ago` : "");
  setText(to, drawn.length > 1 ? `${figure(scale.least)} – ${figure(scale.most)}` : "");
}

function scaled(points) {
  const values = points.map(([, value]) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [begin, end] = [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 1];
  const x = (at) => PAD + ((at - begin) / (end - begin || 1)) * (WIDTH - 2 * PAD);
  const y = (value) => (most === least ? HEIGHT / 2 : HEIGHT - PAD - ((value - least) / (most - least)) * (HEIGHT - 2 * PAD));
  return { least, most, points: points.map(([at, value]) => [x(at), y(value)]) };
}


const FULL = 0.9; // from here on a node is nearly full

/** A bar with its name and figures. */
export function createBar(title) {
  const fill = h("span", { class: "bar-fill" });
  return h("div", { class: "meter" }, h("span", { class: "meter-title" }, title), h("span", { class: "bar-track", "aria-hidden": "true" }, fill), h("span", { class: "meter-value numbers" }));
}

export function updateBar(element, amount, unit) {
  const { capacity, requested } = amount ?? {};
  const known = typeof capacity === "number" && typeof requested === "number" && capacity > 0;
  const share = known ? Math.min(1, requested / capacity) : 0;
  element.children[1].firstChild.style.inlineSize = `${(share * 100).toFixed(1)}%`;
  setAttribute(element, "data-full", known && share >= FULL ? "true" : null);
  setText(element.children[2], known ? `${unit(requested)} of ${unit(capacity)}` : "not known");
}

export const memory = (value) => bytes(value);
export const cores = (value) => figure(value);
