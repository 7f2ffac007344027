// The player: the unit that is shown, and the selection there. Both are in the address
// (`#round=78&plot=17`), so a link opens the same position; every control calls `go`.
import { el, replaceAll, svg } from "./dom.js";

// The address of the page; kept in memory in the frame of a notebook, which has none.
class Address {
  constructor() {
    this.isOwn = location.protocol !== "about:";
    this.text = "";
  }

  get hash() {
    return this.isOwn ? location.hash : this.text;
  }

  // `isStep`: the browser can go back to the address before.
  set(hash, isStep = false) {
    if (!this.isOwn) this.text = hash;
    else if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }
}

export class Player {
  // `unit`: its noun; `first` .. `last`: units, of which the first ones up to `begin` have no events, and the last one is
  // shown at first; `selectors`: by name of what can be selected, a function from text to a value or null; `passing`: the
  // names that apply to one unit only; `show(position)`: draws; `describe()`: text.
  constructor(options) {
    Object.assign(this, options);
    this.timer = null;
    this.address = new Address();
    const part = (name) => document.getElementById(name);
    this.parts = {
      range: part("scrubber"), play: part("play"), speed: part("speed"), goto: part("goto"),
      now: part("now"), said: part("said"), keys: part("keys"), fault: part("goto-fault"),
    };
    this.listen(part);
    this.arrive();
  }

  // Take over the position in the address, and show its errors.
  arrive() {
    const [position, wrong] = this.parsed(this.address.hash);
    this.position = position;
    this.parts.fault.textContent = wrong.length ? `Not in this page: ${wrong.join(", ")}.` : "";
    if (wrong.length) this.address.set(this.href());
  }

  listen(part) {
    const { range, play, speed, goto: form } = this.parts;
    range.min = this.first;
    range.max = this.last;
    range.addEventListener("input", () => this.go({ [this.unit]: Number(range.value) }));
    play.addEventListener("click", () => this.toggle());
    speed.addEventListener("change", () => this.timer !== null && this.start());
    for (const [name, by] of [["back", -1], ["forward", 1]]) {
      part(name).addEventListener("click", () => this.step(by));
    }
    part("start").addEventListener("click", () => this.go({ [this.unit]: this.first }));
    part("end").addEventListener("click", () => this.go({ [this.unit]: this.last }));
    part("help").addEventListener("click", () => this.showKeys());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.goTo(form.elements.where.value);
    });
    const main = part("view");
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address is the position's
      main.focus();
    });
    globalThis.addEventListener("hashchange", () => this.follow());
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href^='#']");
      if (this.address.isOwn || !link || event.defaultPrevented) return;
      event.preventDefault();
      this.address.set(link.getAttribute("href"));
      this.follow();
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // Show the target of a link or of the browser's history.
  follow() {
    if (this.timer !== null) this.stop();
    this.arrive();
    this.draw(true);
  }

  // The position in an address, and the parts of it that do not exist.
  parsed(address) {
    const position = { [this.unit]: this.last };
    const wrong = [];
    for (const [name, text] of new URLSearchParams(address.replace(/^#/, ""))) {
      const value = this.valueOf(name, text);
      if (value === null) wrong.push(`${name} ${text}`);
      else position[name] = value;
    }
    return [position, wrong];
  }

  // The value of a unit or selection from text; null if it does not exist.
  valueOf(name, text) {
    if (name !== this.unit) return Object.hasOwn(this.selectors, name) ? this.selectors[name](text) : null;
    const number = /^-?\d{1,9}$/.test(text) ? Number(text) : NaN;
    return this.within(number) === number ? number : null;
  }

  within(number) {
    return Number.isNaN(number) ? this.last : Math.min(this.last, Math.max(this.first, number));
  }

  get at() {
    return this.position[this.unit];
  }

  // The address of this position with changes; null removes a selection.
  href(changes = {}) {
    const position = { ...this.position, ...changes };
    const said = new URLSearchParams();
    for (const [name, value] of Object.entries(position)) {
      if (value !== null && value !== undefined) said.set(name, value);
    }
    return `#${said}`;
  }

  // Go to another position. A selection is a step in the browser's history, another unit is not. Nothing is
  // announced while it plays.
  go(changes) {
    const isElsewhere = (changes[this.unit] ?? this.at) !== this.at;
    const left = isElsewhere ? Object.fromEntries(this.passing.map((name) => [name, null])) : {};
    const address = this.href({ ...left, ...changes });
    this.address.set(address, !isElsewhere && address !== this.address.hash);
    this.arrive();
    this.draw(this.timer === null);
  }

  step(by) {
    this.go({ [this.unit]: this.within(this.at + by) });
  }

  draw(aloud) {
    const { range, now, said } = this.parts;
    range.value = this.at;
    range.setAttribute("aria-valuetext", `${this.unit} ${this.at} of ${this.last}`);
    now.textContent = this.at < this.begin ? "start" : `${this.unit} ${this.at}`;
    keepingFocus(() => this.show(this.position));
    if (aloud) said.textContent = this.describe();
  }

  showKeys() {
    if (this.timer !== null) this.stop();
    this.parts.keys.showModal();
  }

  toggle() {
    if (this.timer === null) this.start();
    else this.stop();
  }

  start() {
    clearInterval(this.timer);
    if (this.at === this.last) this.go({ [this.unit]: this.first });
    this.timer = setInterval(() => {
      this.step(1);
      if (this.at === this.last) this.stop();
    }, 1000 / Number(this.parts.speed.value));
    this.parts.play.textContent = "Pause";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.parts.play.textContent = "Play";
    this.parts.said.textContent = this.describe();
  }

  // Typed input: `78`, `round 78`, `plot 17`; the beginning of a word is enough.
  goTo(text) {
    const [, word, typed] = /^\s*([a-z]*)\s*[=:]?\s*(\S.*?)\s*$/i.exec(text) ?? [];
    const names = [this.unit, ...Object.keys(this.selectors)];
    const name = names.find((each) => each.startsWith((word || this.unit).toLowerCase()));
    const value = typed === undefined || name === undefined ? null : this.valueOf(name, typed);
    const { fault, goto: form } = this.parts;
    if (value === null) {
      fault.textContent = `Nothing there. Type ${this.unit} ${this.begin} to ${this.last}${names.slice(1).map((each) => `, or ${each} and which one`).join("")}.`;
      return;
    }
    form.elements.where.value = "";
    if (this.timer !== null) this.stop();
    this.go({ [name]: value });
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || this.parts.keys.open) return;
    const typing = event.target.closest("input:not([type=range]), select, textarea");
    if (typing || (event.target.closest("[data-arrows]") && event.key.startsWith("Arrow"))) return;
    if (event.key === " " && event.target.closest("button, summary, a, [role=button]")) return;
    const actions = {
      ArrowLeft: () => this.step(event.shiftKey ? -10 : -1),
      ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
      Home: () => this.go({ [this.unit]: this.first }),
      End: () => this.go({ [this.unit]: this.last }),
      " ": () => this.toggle(),
      "/": () => this.parts.goto.elements.where.focus(),
      "?": () => this.showKeys(),
      Escape: () => this.go(Object.fromEntries(Object.keys(this.selectors).map((name) => [name, null]))),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }
}

// Draw again, and restore the focus to the element with the same label.
function keepingFocus(draw) {
  const before = document.activeElement;
  // A link to this position names its unit first; the same one names another unit after a step.
  const labelOf = (node) => `${node.tagName} ${node.getAttribute("href")?.replace(/=[^&]*/, "")} ${node.textContent}`;
  const label = labelOf(before);
  draw();
  if (before.isConnected) return;
  const same = [...document.querySelectorAll("main a, main summary, main button")].find((node) => labelOf(node) === label);
  (same ?? document.getElementById("view")).focus({ preventScroll: true });
}

// Behind the scrubber: marks, [{at, kind, title}].
export function drawTrack(first, last, marks) {
  const x = (number) => (last > first ? (1000 * (number - first)) / (last - first) : 500);
  const ticks = marks.map(({ at, kind }) => svg("line", { class: `mark ${kind}`, x1: x(at), x2: x(at), y1: 0, y2: 20 }));
  replaceAll(document.getElementById("track"), ticks.length ? svg("svg", { viewBox: "0 0 1000 20", preserveAspectRatio: "none", "aria-hidden": "true" }, ticks) : null);
  const titled = [...new Map(marks.map((mark) => [mark.kind, mark])).values()];
  replaceAll(document.getElementById("track-legend"), titled.map(({ kind, title }) => el("li", {}, el("span", { class: `swatch ${kind}` }), title)));
}
