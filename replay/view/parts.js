// What a world adds to the page of any world: the parts of a run (episodes), pictures of it, and remarks.
import { el, fold, plural, scrolling, seen, tableOf } from "./dom.js";
import { labelOf } from "./tables.js";

const NOTHING = { node: null, show() {} };

// A table of the parts of a run, each with a link to its first unit: {node, show(unit)}.
export function partsOf(run, runs, player) {
  const { parts } = run.added;
  if (!parts?.rows.length) return NOTHING;
  const { title, head, numbers, rows, of } = parts;
  const link = ([first, , name]) => el("a", { href: player.href({ [player.unit]: first }) }, name);
  const table = tableOf(head, rows.map((row) => [link(row), ...row.slice(3)]), numbers);
  const lines = [...table.querySelectorAll("tbody tr")];
  const show = (at) => rows.forEach(([first, last], index) => {
    const isHere = first <= at && at <= last;
    lines[index].classList.toggle("here", isHere);
    if (isHere) lines[index].setAttribute("aria-current", "true");
    else lines[index].removeAttribute("aria-current");
  });
  const label = labelOf(title, run, runs);
  const more = of > rows.length ? el("p", { class: "note" }, `The first ${rows.length} of ${of}.`) : null;
  return { node: fold(`${title} (${of})`, true, scrolling(label, el("div", { class: "long parts" }, table)), more), show };
}

// The picture of a unit, or of the last one before it that has one: {node, show(unit)}.
export function picturesOf(run, unit) {
  const { pictures } = run.added;
  if (!pictures) return NOTHING;
  const { units, images, note } = pictures;
  if (!images.length) return { node: el("p", { class: "note" }, note), show() {} };
  const canvas = el("canvas", { role: "img" });
  const caption = el("figcaption");
  let drawn = -1;
  const show = (at) => {
    const index = Math.max(0, units.findLastIndex((each) => each <= at));
    if (index === drawn) return;
    drawn = index;
    const text = seen(`${unit} ${units[index]}`);
    canvas.setAttribute("aria-label", `The picture of ${text}`);
    caption.textContent = `${text}. ${note}`;
    const bytes = Uint8Array.from(atob(images[index]), (character) => character.charCodeAt(0));
    createImageBitmap(new Blob([bytes], { type: "image/png" })).then((image) => {
      if (index !== drawn) return;
      Object.assign(canvas, { width: image.width, height: image.height });
      canvas.getContext("2d").drawImage(image, 0, 0);
    });
  };
  return { node: el("figure", { class: "picture" }, canvas, caption), show };
}

// What must be known to judge the run, by name.
export function remarksOf(run) {
  const { remarks = [] } = run.added;
  return remarks.length === 0 ? null : fold(`What a check of this run rests on (${plural(remarks.length, "remark")})`, true,
    el("dl", { class: "facts" }, remarks.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
}
