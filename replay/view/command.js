// A command to copy.
import { el } from "./dom.js";

// A line to copy into a shell, or lines of Python.
export function commandLine(text) {
  const copy = (event) => navigator.clipboard.writeText(text).then(() => {
    event.target.textContent = "Copied";
  });
  return el("div", { class: "command" }, el("pre", { tabindex: "0" }, el("code", {}, text)),
    navigator.clipboard ? el("button", { type: "button", class: "copy", click: copy }, "Copy") : null);
}
