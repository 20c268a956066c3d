// Elements, numbers and colours.
import { PALETTE } from "./palette.js";

/** Make an element; strings become text, never markup. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (text, action, props = {}) => h("button", { type: "button", onclick: action, ...props }, text);

/** Make a table: names of its columns, and rows whose first cell is a name too. */
export function table(names, rows) {
  const head = names.map((name) => h("th", { scope: "col" }, name));
  const body = rows.map(([name, ...cells]) => h("tr", {}, h("th", { scope: "row" }, name), cells.map((cell) => h("td", {}, cell))));
  return h("table", {}, head.length ? h("thead", {}, h("tr", {}, head)) : null, h("tbody", {}, body));
}

/** Replace what an element holds; a focus that goes with it stays in a notebook's widget. */
export function refill(element, ...children) {
  const root = element.closest(".gpgc");
  const focused = () => root?.contains(root.getRootNode().activeElement);
  const before = root?.tabIndex === 0 && focused();
  element.replaceChildren(...children.filter(Boolean));
  if (before && !focused()) root.focus({ preventScroll: true });
}

export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const percent = (value) => Math.round(100 * value);
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
/** The colour of a class: its own, or that of its place. @param {import("./types").Klass} each */
export const colourOf = ({ colour, place }) => colour ?? PALETTE[place % PALETTE.length];
