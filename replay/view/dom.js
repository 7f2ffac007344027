// Elements made from data. Text becomes text nodes only, and invisible characters, or those that change
// the direction of text, are shown as escapes: an agent's text cannot become markup.

const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\p{Default_Ignorable_Code_Point}|\u{2800}|\u{1d159}/gu;

// Escapes as in kernel/text.py (the browser's version of Unicode may differ): \x1b, \u202e, \U000e0001; but line ends stay.
function escapeOf(character) {
  if (character === "\n") return character;
  const code = character.codePointAt(0);
  const [mark, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return `\\${mark}${code.toString(16).padStart(digits, "0")}`;
}

export const seen = (text) => String(text).replace(UNSEEN, escapeOf);

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : seen(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : seen(child))));
  return node;
}

// An element with attributes (a function listens to the event of that name) and children.
export const el = (tag, attributes = {}, ...children) =>
  made(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Replace the children of a node.
export const replaceAll = (node, ...children) => node.replaceChildren(...el("div", {}, ...children).childNodes);

export const plural = (count, noun) => `${numberFormat(0).format(count)} ${noun}${count === 1 ? "" : "s"}`;

// The minimum and maximum of any number of values (a spread has a limit); null for none.
export function extremes(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

// Text quoted as one word of a shell.
export const shellQuoted = (text) => `'${text.replaceAll("'", `'"'"'`)}'`;

const formats = new Map();

function numberFormat(digits) {
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en", { maximumFractionDigits: digits }));
  return formats.get(digits);
}

// Numbers above and below which people read exponents better, and the digits that they read.
const [PLAIN_MAX, DIGITS_READ] = [1e15, 10];
export const PLAIN_MIN = 1e-6;

// A number as 1.5e20.
export const exponential = (value) => (value === 0 ? "0"
  : Number(value.toPrecision(DIGITS_READ)).toExponential().replace("+", "").replace("Infinity", "∞").replaceAll("-", "−"));

// A number for people: integers as they are, others with at most so many decimals, rounded as Python
// does: by the exact value of the float, where NumberFormat takes its shortest decimals.
export function rounded(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) > PLAIN_MAX) return exponential(value);
  const number = Number.isFinite(value) ? Number(value.toFixed(digits)) || 0 : value; // not −0
  return numberFormat(digits).format(number).replace("-", "−");
}

// A value for people: a number with as many decimals as tell it from zero, blank text in quotes.
export function valueText(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value).trim() === "" ? JSON.stringify(value) : String(value);
  const size = Math.abs(value);
  if (size > 0 && size < PLAIN_MIN) return exponential(value);
  const before = size === 0 ? 0 : Math.floor(Math.log10(size)); // a digit less than stand before the point
  return rounded(value, before < 0 ? 2 - before : Math.max(0, Math.min(2, DIGITS_READ - 1 - before)));
}

// The parts that were opened or closed by hand, by title without its numbers: they stay so in other units.
const opened = new Map();

// A part with a title that can be opened. A child that is a function is called on first opening.
export function fold(title, open, ...children) {
  const key = title.replace(/\d+/g, "#");
  const node = el("details", { open: opened.get(key) ?? open }, el("summary", {}, title));
  const fill = () => {
    if (node.open && node.childNodes.length === 1) {
      node.append(...el("div", {}, children.map((child) => (typeof child === "function" ? child() : child))).childNodes);
    }
  };
  fill();
  node.addEventListener("toggle", () => {
    opened.set(key, node.open);
    fill();
  });
  return node;
}

// An element that may be wider than the page and is then scrolled, by keys too, which then do not step.
export function scrolling(label, ...children) {
  const node = el("div", {
    class: "scroll", tabindex: "0", role: "group", "aria-label": label,
    keydown: (event) => event.key.startsWith("Arrow") && node.scrollWidth > node.clientWidth && event.stopPropagation(),
  }, children);
  return node;
}

// A table; `numbers`: the titles of its columns of numbers, `head`: that of the column that names its rows.
export function tableOf(titles, rows, numbers, head = titles[0]) {
  const kinds = titles.map((title) => (numbers.includes(title) ? "number" : null));
  const cell = (value, index) => titles[index] === head ? el("th", { scope: "row" }, value) : el("td", { class: kinds[index] }, value);
  return el("table", {},
    el("thead", {}, el("tr", {}, titles.map((title, index) => el("th", { scope: "col", class: kinds[index] }, title)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map(cell)))));
}

const asBytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

// The bytes of an element of the page.
export async function unpacked(id) {
  const stream = new Blob([asBytes(document.getElementById(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
