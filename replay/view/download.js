// Figures and data as files: an SVG whose colours are literal, and CSV. Nothing of a page is needed by them.

// What an SVG takes from the style sheets of its page.
const COLOURS = ["fill", "stroke"];
const OTHERS = [
  "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight",
  "text-anchor", "visibility", "display",
];

// Save a file.
export function save(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// A colour of a style sheet as `#rrggbb` and its opacity.
function literal(brush, colour) {
  brush.clearRect(0, 0, 1, 1);
  brush.fillStyle = colour;
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
  return [`#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`, alpha / 255];
}

function inline(from, to, brush) {
  const style = getComputedStyle(from);
  for (const name of COLOURS) {
    const value = style.getPropertyValue(name);
    const [colour, opacity] = /^(none|url)/.test(value) ? [value, 1] : literal(brush, value);
    to.setAttribute(name, colour);
    to.setAttribute(`${name}-opacity`, opacity * Number(style.getPropertyValue(`${name}-opacity`)));
  }
  for (const name of OTHERS) to.setAttribute(name, style.getPropertyValue(name));
  for (const name of ["class", "style", "role", "tabindex", ...to.getAttributeNames().filter((each) => each.startsWith("aria-"))]) to.removeAttribute(name);
  [...from.children].forEach((child, index) => inline(child, to.children[index], brush));
}

// The text of an SVG that looks elsewhere as it does in a light page.
function svgText(picture) {
  const before = picture.style.colorScheme;
  picture.style.colorScheme = "light";
  const copy = picture.cloneNode(true);
  inline(picture, copy, document.createElement("canvas").getContext("2d", { willReadFrequently: true }));
  picture.style.colorScheme = before;
  const { width, height } = picture.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: "#ffffff" })) paper.setAttribute(name, value);
  copy.prepend(paper);
  copy.querySelectorAll("[data-passing]").forEach((node) => node.remove());
  return new XMLSerializer().serializeToString(copy);
}

export const downloadSvg = (picture, name) => save(svgText(picture), "image/svg+xml", `${name}.svg`);

const field = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csvText = (head, rows) => [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

export const downloadCsv = (name, head, rows) => save(csvText(head, rows), "text/csv", `${name}.csv`);
