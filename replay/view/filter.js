// Which runs of a page are shown, and in which order: as text behind the # of its address.

export const FIELDS = ["treatment", "roster", "seed", "find", "sort"];

// Numbers and ranges, `0-9, 17`, as a function from a number to whether it is among them; null for other text.
export function numbersOf(text) {
  const parts = text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  const ranges = parts.map((part) => /^(\d+)(?:\s*[-–]\s*(\d+))?$/.exec(part));
  if (ranges.includes(null)) return null;
  return (number) => ranges.some(([, first, last = first]) => number !== null && Number(first) <= number && number <= Number(last));
}

// The runs that fit a state, in its order. `columns`: by name {of(run), isNumber}.
export function chosen(runs, state, columns) {
  const tests = [];
  const words = (state.find ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (state.treatment) tests.push((run) => run.treatment === state.treatment);
  if (state.roster) tests.push((run) => run.roster === state.roster);
  const isSeed = state.seed ? numbersOf(state.seed) : null;
  if (isSeed) tests.push((run) => isSeed(run.seed));
  if (words.length) tests.push((run) => words.every((word) => run.text.includes(word)));
  const some = runs.filter((run) => tests.every((test) => test(run)));
  const [, sign, name] = /^(-?)(.*)$/s.exec(state.sort ?? "");
  const column = columns.get(name);
  return column ? sorted(some, column, sign === "-") : some;
}

const collator = new Intl.Collator("en", { numeric: true });

// Undefined values come last in both orders; equal ones keep their order.
function sorted(runs, { of, isNumber }, isDescending) {
  const compare = (a, b) => (isNumber ? a - b : collator.compare(a, b)) * (isDescending ? -1 : 1);
  return runs.map((run) => [of(run), run])
    .sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : compare(a, b)))
    .map(([, run]) => run);
}

// A state as text for the address, and back; `prefix`: of its names, where a page has several.
export function addressOf(state, prefix = "") {
  const text = new URLSearchParams();
  for (const name of FIELDS) if (state[name]) text.set(prefix + name, state[name]);
  return text;
}

export function stateOf(text, prefix = "") {
  return Object.fromEntries(FIELDS.map((name) => [name, text.get(prefix + name)]).filter(([, value]) => value));
}
