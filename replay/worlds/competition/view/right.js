// Who argued what at a table, and whether it held: what it chose and should have chosen, every claim
// beside its test, and the challenges. The sentences are made in Python.
import { Roundtables } from "./assignment.js";
import { el, fold, rounded, scrolling, tableOf } from "../../../view/dom.js";
import { Transcript } from "./transcript.js";

const CLAIMS_SHOWN = 8; // claims that are seen before the rest is opened
const CHALLENGES_SHOWN = 4;

// Claims that count, the best test first: [{said, test, off, held, edge}].
function claimsOf(people, table) {
  const sign = people.signOf(table.subject);
  const worth = ({ test }) => (typeof test === "number" ? sign * test : -Infinity);
  return table.ruled.claims.map(([id, held, sharp, edge]) => {
    const said = table.said[id];
    const test = table.tests.get(`${id} base`)?.value ?? null;
    const off = typeof test === "number" ? sign * (test - said.claim[0]) : null;
    return { said, test, off, held, sharp, edge };
  }).toSorted((one, other) => worth(other) - worth(one) || one.said.id - other.said.id);
}

// Whether a test bore out what was said, as a sign and a word.
const verdict = (isRight, yes, no) => el("span", { class: `verdict ${isRight ? "good" : "bad"}` },
  el("span", { "aria-hidden": "true" }, isRight ? "✓" : "✗"), ` ${isRight ? yes : no}`);

const offText = (off) => (off === null ? "–" : `${off > 0 ? "+" : ""}${rounded(off, 4)}`);

function claimTable(people, table) {
  const claims = claimsOf(people, table);
  if (!claims.length) return null;
  const scale = Transcript.scaleOf([table]);
  const best = claims.find(({ held }) => held);
  const titles = ["worker", "its claim", "claimed", "tested", "off by", "claim and test", "proposal", "conduct"];
  const rows = claims.map(({ said, test, off, held, sharp, edge }) => {
    const [claimed, tested] = Roundtables.apart(said.claim[0], test);
    return [
      people.chip(said.agent),
      [verdict(held, "held", "did not hold"),
        sharp ? " · sharp" : null,
        edge === null || edge === undefined ? null : ` · edge ${edge ? "held" : "did not hold"}`,
        said.id === best?.said.id ? el("b", {}, " · best test") : null,
        said.id === table.concluded?.proposal ? el("b", {}, " · chosen") : null],
      claimed, tested, offText(off), Transcript.dotPlot(scale, table.bar?.value, said.claim[0], test, held),
      people.link(table, said.id), people.conductNode(said.conduct),
    ];
  });
  const shown = (some) => scrolling("Claims and their tests", tableOf(titles, some, ["claimed", "tested", "off by"]));
  return el("div", { class: "claims" }, shown(rows.slice(0, CLAIMS_SHOWN)),
    el("p", { class: "note" }, "Off by: how much better (+) or worse (−) the test was than the claim."), Transcript.legendOf(table, scale),
    rows.length > CLAIMS_SHOWN ? fold(`The other ${rows.length - CLAIMS_SHOWN} claims`, false, () => shown(rows.slice(CLAIMS_SHOWN))) : null);
}

function challengeList(people, table) {
  const items = table.ruled.challenges.map(([isRight, line]) => el("li", {},
    el("span", { class: `verdict ${isRight ? "good" : "bad"}`, "aria-hidden": "true" }, isRight ? "✓ " : "✗ "), people.line(table, line)));
  if (!items.length) return null;
  const list = (some) => el("ul", { class: "challenges" }, some);
  return [list(items.slice(0, CHALLENGES_SHOWN)),
    items.length > CHALLENGES_SHOWN ? fold(`${items.length - CHALLENGES_SHOWN} more challenges`, false, () => list(items.slice(CHALLENGES_SHOWN))) : null];
}

// A line as the beginning of a sentence.
const begun = ([first, ...rest]) => [first.charAt(0).toUpperCase() + first.slice(1), ...rest];

// A table as a section; null for a table without a conclusion event.
export function argumentsOf(people, table, adopted) {
  if (table.concluded === null) return null;
  const { says } = table.ruled;
  const { proposal, conduct } = table.concluded;
  return el("section", { class: "right" },
    el("h3", {}, "Who argued what, and whether it held"),
    el("p", { class: "answer" }, people.line(table, says.right)),
    el("p", {}, begun(people.line(table, says.conclusion)), ". ", people.line(table, says.best),
      proposal === null ? null : [" The conduct: ", people.conductNode(conduct), "."]),
    el("p", {}, people.line(table, says.quality)),
    adopted,
    claimTable(people, table), challengeList(people, table));
}
