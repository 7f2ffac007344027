// The words of a season, explained where they stand: a word is a button; its meaning appears below it by
// pointer, focus or touch, and goes with Escape or a touch elsewhere. All are listed at the end of the page.
import { el } from "../../../view/dom.js";

const LEFT_ALONE = "a, button, summary, code, q, svg, h2, .agent, .words, .said, .meaning, .command, details.conduct";
const EDGE = 8; // pixels that are left free beside the meaning

// `words`: [word, meaning, other forms].
export function wordsOf(words) {
  const meanings = new Map();
  for (const [word, meaning, others] of words) {
    for (const form of [word, ...others]) meanings.set(form, { word, meaning });
  }
  const forms = [...meanings.keys()].toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(`(?<![\\w-])(${forms.join("|")})(?![\\w-])`, "i");
  const idOf = (word) => `word-${word.replace(/\W/g, "-")}`;
  const tip = el("div", { class: "meaning", popover: "manual" });
  let shown = null; // the word whose meaning is seen

  function show(button) {
    shown = button;
    tip.textContent = meanings.get(button.dataset.word).meaning;
    tip.showPopover();
    const { left, bottom, top } = button.getBoundingClientRect();
    const { width, height } = tip.getBoundingClientRect();
    const { innerWidth, innerHeight } = globalThis;
    const below = bottom + 4;
    tip.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
    tip.style.top = `${below + height + EDGE > innerHeight ? top - height - 4 : below}px`;
  }

  function hide() {
    shown = null;
    if (tip.isConnected) tip.hidePopover();
  }

  const wordAt = ({ target }) => target.closest?.(".word") ?? null;
  const isTip = ({ target }) => tip.contains(target);

  function listen() {
    document.addEventListener("pointerover", (event) => {
      const button = wordAt(event);
      if (event.pointerType === "touch" || isTip(event)) return;
      if (button !== null && button !== shown) show(button);
      else if (button === null && shown !== null && shown !== document.activeElement) hide();
    });
    document.addEventListener("focusin", (event) => {
      const button = wordAt(event);
      if (button !== null) show(button);
      else hide();
    });
    document.addEventListener("click", (event) => {
      const button = wordAt(event);
      if (button !== null) show(button);
      else if (!isTip(event)) hide();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || shown === null) return;
      event.stopPropagation(); // nothing else is left
      hide();
    }, true);
    globalThis.addEventListener("scroll", hide, { passive: true });
    document.body.append(tip);
  }

  const buttonOf = (text, { word }) =>
    el("button", { type: "button", class: "word", "data-word": word, "aria-describedby": idOf(word) }, text);

  // Make each word in a node a button where it stands first; gives the node.
  function explain(node) {
    if (node === null) return null;
    const known = new Set();
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
      if (walker.currentNode.parentElement.closest(LEFT_ALONE) === null) texts.push(walker.currentNode);
    }
    for (const text of texts) explainText(text, known);
    return node;
  }

  function explainText(text, known) {
    for (let rest = text, from = 0; ;) {
      const found = pattern.exec(rest.data.slice(from));
      if (found === null) return;
      const at = from + found.index;
      const entry = meanings.get(found[0].toLowerCase());
      if (known.has(entry.word)) {
        from = at + found[0].length;
        continue;
      }
      known.add(entry.word);
      const word = rest.splitText(at);
      rest = word.splitText(found[0].length);
      from = 0;
      word.replaceWith(buttonOf(found[0], entry));
    }
  }

  // All words, of which those on the page describe themselves.
  const list = () => {
    const node = el("details", { class: "glossary" }, el("summary", {}, "All words of a season"),
      el("dl", {}, words.map(([word, meaning]) => [el("dt", {}, word), el("dd", { id: idOf(word) }, meaning)])));
    return node;
  };

  return { explain, listen, list };
}
