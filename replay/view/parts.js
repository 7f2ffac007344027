// What a world adds to the page of any world: the parts of a run (episodes).
import { el, fold, scrolling, tableOf } from "./dom.js";
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
