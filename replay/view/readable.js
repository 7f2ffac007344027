// A drawing whose values are read under the pointer and by keys: a slider, as screen readers know it. Until
// somebody looks at another value, it shows that of the player.

// `label`; `ends()`: the lowest and the highest value; `rest()`: the value of the player; `under(x, y)`: the value at
// a position, from 0 to 1; `moved(value, key, by)`: that of an arrow key, or undefined; `textOf(value)`; `show(value,
// isLooked)`; `choose(value)`: on a click or Enter. Returns a function that shows the value again.
export function readable(node, { label, ends, rest, under, moved, textOf, show, choose }) {
  let looked = null;
  for (const [name, value] of Object.entries({ role: "slider", tabindex: "0", "data-arrows": "", "aria-label": label })) node.setAttribute(name, value);
  const refresh = () => {
    const [low, high] = ends();
    if (looked !== null) looked = Math.max(low, Math.min(high, looked));
    const value = looked ?? rest();
    for (const [name, text] of Object.entries({ valuemin: low, valuemax: high, valuenow: value, valuetext: textOf(value) })) node.setAttribute(`aria-${name}`, text);
    show(value, looked !== null);
  };
  const look = (value) => {
    if (value === looked) return;
    looked = value;
    refresh();
  };
  const pointed = ({ clientX, clientY }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return under((clientX - left) / width, (clientY - top) / height);
  };
  node.addEventListener("pointermove", (event) => look(pointed(event)));
  for (const name of ["pointerleave", "blur"]) node.addEventListener(name, () => look(null));
  node.addEventListener("click", (event) => choose(pointed(event), event));
  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = looked ?? rest();
    const [low, high] = ends();
    const to = { Home: low, End: high }[event.key] ?? moved(from, event.key, event.shiftKey ? 10 : 1);
    if (event.key === "Enter") choose(from, event);
    else if (to === undefined) return;
    else look(to);
    event.preventDefault();
    event.stopPropagation();
  });
  return refresh;
}

// The step of an arrow key in a row of values.
export const along = (value, key, by) => ({ ArrowLeft: value - by, ArrowDown: value - by, ArrowRight: value + by, ArrowUp: value + by })[key];
