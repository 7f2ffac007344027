// A roundtable as a transcript of cards: the contributions by round, with reasons, references and the
// tests of their claims; then the proof of all claims, who changes sides, the final stances with their
// reasons, and the conclusion with its reason.
import { Roundtables } from "./assignment.js";
import { el, extremes, fold, plural, seen, svg } from "../../../view/dom.js";
import { longText } from "../../../view/events.js";

export const Transcript = (() => {
  const { textOf, word, number, apart, sidesOf, groundsOf, isProposal } = Roundtables;
  const PLOT = { width: 240, height: 22, pad: 8 };
  const PROOF = 1e9; // the sort key of the proof and the choice, after all rounds
  const STOOD_MAX = 40; // final stances that are shown unfolded
  const EDGES = { step: 9, lanes: 12, left: 6 };

  // The range of the values of the claims, tests and bars of tables.
  function scaleOf(tables) {
    const valuesOf = ({ bar, said, tests }) => [bar?.value, ...said.filter(isProposal).map(({ claim }) => claim[0]),
      ...[...tests.values()].map(({ value }) => value)];
    const values = tables.flatMap(valuesOf).filter((value) => typeof value === "number");
    const [low, high] = extremes(values) ?? [0, 1];
    const room = (high - low || 1) * 0.04;
    return { low: low - room, high: high + room };
  }

  // Claim (open diamond) and test (dot where it holds, cross where not) against the bar (line).
  function dotPlot(scale, bar, claim, test, holds) {
    const { width, height, pad } = PLOT;
    const x = (value) => pad + ((width - 2 * pad) * (value - scale.low)) / (scale.high - scale.low);
    const middle = height / 2;
    const parts = [svg("line", { class: "axis", x1: pad, x2: width - pad, y1: middle, y2: middle })];
    if (typeof bar === "number") parts.push(svg("line", { class: "bar", x1: x(bar), x2: x(bar), y1: 1, y2: height - 1 }));
    if (typeof test === "number") {
      parts.push(svg("line", { class: "margin", x1: x(claim), x2: x(test), y1: middle, y2: middle }));
    }
    const at = x(claim);
    parts.push(svg("path", { class: "claimed", d: `M${at - 6} ${middle}L${at} ${middle - 6}L${at + 6} ${middle}L${at} ${middle + 6}Z` }));
    if (typeof test === "number") {
      const to = x(test);
      parts.push(holds
        ? svg("circle", { class: "holds", cx: to, cy: middle, r: 4.5 })
        : svg("path", { class: "fails", d: `M${to - 4.5} ${middle - 4.5}l9 9m0 -9l-9 9` }));
    }
    return svg("svg", { class: "dots", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, parts);
  }

  // The legend of the drawings of claims, once per table.
  const legendOf = (table, scale) => el("p", { class: "note legend-line" },
    "Drawn to one scale, ", number(scale.low), " to ", number(scale.high), ": ",
    el("b", {}, "│"), ` the bar (${number(table.bar?.value)}), `, el("b", {}, "◇"), " what is claimed, ",
    el("b", {}, "●"), " its test where the claim holds, ", el("b", {}, "✕"), " where it does not. Sharp: at least half of what the test shows beyond the bar.");

  class Cards {
    // `people`: Season.People of the run; `other`: the same table of another run, or null.
    constructor(people, table, position, other) {
      Object.assign(this, { people, table, position, other });
      this.scale = scaleOf(other === null ? [table] : [table, other]);
      this.ruled = new Map(table.ruled.claims.map(([id, base, sharp, edge]) => [id, { base, sharp, edge }]));
      this.removed = new Set(table.ruled.removed);
      this.without = people.find(position.without);
      this.gone = new Set(this.without === null ? [] : (groundsOf(table, this.without)?.gone ?? []));
    }

    link(id) {
      return this.people.link(this.table, id);
    }

    links(ids) {
      return this.people.links(this.table, ids);
    }

    // All items of the transcript in order, as [sort key, node].
    rows() {
      const rows = [];
      let [round, id, more] = [null, -1, 0]; // items without an id sort behind the last one with an id
      const { items, early } = this.table;
      if (early.length) rows.push([[-1, 0, 0, 0], this.early(early)]);
      let isOver = false; // whether the round was judged
      for (const item of items) {
        const isSaid = item.kind === "said";
        const isJudged = item.kind === "judged";
        const follows = round === null ? 0 : round + (isOver && !isJudged);
        const at = isSaid && item.code === null ? item.round : follows;
        isOver = isJudged;
        if (at !== round && (isSaid || round !== null)) {
          round = at;
          rows.push([[at, 0, 0, 0], el("li", { class: "round" }, el("h4", {}, `Round ${at}`))]);
        }
        [id, more] = isSaid && item.id !== null ? [item.id, 0] : [id, more + 1];
        if (isSaid) rows.push([[at, 1, id, more], this.said(item)]);
        else if (isJudged) rows.push([[at, 2, more, 0], this.judged(item)]);
        else rows.push([[at, 1, id, more], this.refused(item.event, item.code)]);
      }
      return this.table.concluded === null ? rows : [...rows, ...this.proof(), ...this.choice()];
    }

    // The proof: the tested values of all claims, and whose stances they change.
    proof() {
      const { claims } = this.table.ruled;
      const rows = [[[PROOF, 0, 0, 0], stage(this.people.line(this.table, this.table.ruled.says.proven),
        claims.length
          ? "The talk is over. Every claim that was not tested yet is tested now. A proposal whose base does not hold is refuted: who stood for it falls back to an earlier stance that holds, or to none."
          : "The talk is over, and no proposal counts.")]];
      for (const [id, ...verdicts] of claims) {
        ["base", "edge"].forEach((part, index) => {
          const test = this.table.tests.get(`${id} ${part}`);
          if (test !== undefined) rows.push([[PROOF, 1, id, index], this.proven(id, part, test, verdicts[2 * index])]);
        });
      }
      const sides = [...sidesOf(this.table)].filter(([, { talked, proven }]) => talked !== proven);
      for (const [agent, { talked, proven }] of sides) {
        rows.push([[PROOF, 2, agent, 0], el("li", { class: "fallen" }, el("p", {}, this.people.chip(agent), " stood for ", this.link(talked),
          ", which is refuted, and ", proven === null ? "stands for nothing now." : ["falls back to ", this.link(proven), "."]))]);
      }
      return rows;
    }

    // One tested part of a claim.
    proven(id, part, test, holds) {
      const said = this.table.said[id];
      const [claimed, tested] = apart(said.claim[0], test.value);
      return el("li", { class: "proven" }, el("p", {}, this.link(id), " of ", this.people.chip(said.agent), part === "base" ? "" : `, its edge under ${seen(said.claim[1])}`,
        ": claimed ", el("span", { class: "value" }, claimed), ", tested ", el("span", { class: "value" }, tested), " ", verdict(holds), " ",
        el("span", { class: "note" }, test.by === null ? "tested now" : ["tested in the talk, after ", this.link(test.by)])));
    }

    // The choice: the final stances, and the conclusion.
    choice() {
      const { stood } = this.table;
      const sides = sidesOf(this.table);
      const given = new Set(stood.map(({ agent }) => agent));
      const silent = [...sides].filter(([agent]) => !given.has(agent));
      const rows = [[[PROOF, 3, 0, 0], stage(this.people.line(this.table, this.table.ruled.says.choice),
        stood.length
          ? "Everybody is asked at the same time, none knowing the answers of the others: which proposal do you stand by?"
          : "Nobody gives a final stance: those that the proof left decide.")]];
      const final = [
        ...stood.map((event, index) => [[PROOF, 4, event.agent, index], this.stands(event, sides.get(event.agent))]),
        ...(stood.length ? silent : []).map(([agent, { proven }]) => [[PROOF, 5, agent, 0], el("li", { class: "fallen" },
          el("p", {}, this.people.chip(agent), " gives no final stance, and ", proven === null ? "stands for nothing." : ["stays with ", this.link(proven), "."]))]),
      ];
      if (final.length > STOOD_MAX) {
        rows.push([[PROOF, 4, 0, 0], el("li", {}, fold(`${plural(final.length, "final stance")}`, false, () => el("ol", { class: "cards" }, final.map(([, node]) => node))))]);
      } else rows.push(...final);
      rows.push([[PROOF, 6, 0, 0], el("li", { class: "ended" }, el("p", {}, this.people.line(this.table, this.table.ruled.says.conclusion)))]);
      return rows;
    }

    // A final stance, with its reason.
    stands(event, side) {
      const { agent, target, code, words, because, answer } = event;
      const isNone = target === null;
      const author = typeof target === "number" ? this.table.said[target] : undefined;
      const test = this.table.tests.get(`${textOf(target)} base`);
      const isOther = this.other !== null && this.other !== undefined && !this.other.stood.some((other) => ["agent", "target", "words", "code"].every((name) => textOf(other[name]) === textOf(event[name])));
      const hasChanged = code === null && side !== undefined && side.talked !== side.final;
      return el("li", { class: `stood${code === null ? "" : " refused"}${isOther ? " differs" : ""}` },
        el("p", { class: "head" }, this.people.chip(agent), code === null ? " stands by " : " would stand by ",
          isNone ? "no proposal" : author === undefined ? `#${textOf(target)}` : this.link(target),
          author === undefined || isNone ? null : author.agent === agent ? ", its own" : [" of ", this.people.chip(author.agent)],
          test === undefined ? null : [", tested ", el("span", { class: "value" }, number(test.value))],
          hasChanged ? [" ", el("span", { class: "chip" }, "changes sides"), " ", el("span", { class: "note" }, side.talked === null ? "stood for nothing in the talk" : ["stood for ", this.link(side.talked), " in the talk"])] : null,
          isOther ? [" ", el("span", { class: "chip differ" }, "differs")] : null),
        code === null ? null : el("p", { class: "bad" }, "Refused: ", this.people.refusal(code), " The stance that the proof left stays: ",
          side === undefined || side.proven === null ? "none" : this.link(side.proven), "."),
        words ? el("div", { class: "words" }, longText(String(words))) : null,
        el("p", { class: "note" }, this.grounds(because)),
        answer === null ? null : this.answer(answer));
    }

    early(trials) {
      const by = new Map();
      for (const trial of trials) by.set(trial.agent, [...(by.get(trial.agent) ?? []), trial]);
      return el("li", { class: "aside" }, fold(`${plural(trials.length, "trial")} before anybody spoke, each told to its agent alone`, false,
        () => [...by].map(([agent, own]) => el("p", {}, this.people.chip(agent), ": ", this.trials(own)))));
    }

    trials(trials) {
      return trials.map(({ conduct, treatment, value }, index) => [
        index ? "; " : "", this.people.conductNode(conduct), " ",
        treatment === this.table.subject?.[1] ? "" : `under ${word(treatment)} `, "→ ", el("span", { class: "value" }, number(value)),
      ]);
    }

    refused(act, code) {
      return el("li", { class: "card refused" },
        el("p", {}, "Refused: ", act.agent === undefined ? act.event : [this.people.chip(act.agent), ` (${act.event}`, act.conduct ? [" ", this.people.conductNode(act.conduct)] : "", ")"], " – ", this.people.refusal(code)));
    }

    judged({ signal, round, ids, reason, code }) {
      const said = typeof signal === "string" ? (this.people.run.computed.signals[signal] ?? signal) : textOf(signal);
      return el("li", { class: "judge" }, el("p", {}, el("b", {}, "Judge"), ` after round ${round}: ${said}`,
        Array.isArray(ids) && ids.length ? [" ", this.links(ids)] : null,
        reason ? [" ", el("q", { class: "said" }, String(reason))] : null,
        code === null ? null : [". Refused: ", this.people.refusal(code)]));
    }

    // A contribution as a card.
    said(item) {
      const { id, agent, move, target, code, words, because, trials } = item;
      const ruled = this.ruled.get(id);
      const classes = ["card", code === null ? (isProposal(item) ? "proposal" : move) : "refused"];
      if (id !== null && this.gone.has(id)) classes.push("gone");
      if (this.removed.has(id)) classes.push("removed");
      if (this.differs(item)) classes.push("differs");
      const isChosen = id !== null && String(id) === this.position.line;
      return el("li", { class: classes.join(" "), "data-line": id, "aria-current": isChosen ? "true" : null },
        el("p", { class: "head" },
          id === null ? null : el("span", { class: "number" }, this.link(id)), " ",
          this.people.chip(agent), " ", this.moved(item),
          id !== null && id === this.table.concluded?.proposal ? [" ", el("span", { class: "chip good" }, "the conclusion")] : null,
          this.removed.has(id) ? [" ", el("span", { class: "chip bad" }, "redirected: does not count")] : null,
          this.gone.has(id) ? [" ", el("span", { class: "chip" }, `falls away without ${this.people.name(this.without)}`)] : null,
          this.differs(item) ? [" ", el("span", { class: "chip differ" }, "differs")] : null),
        code === null ? null : el("p", { class: "bad" }, `Refused${id === null ? "" : ", counts as a pass"}: `, this.people.refusal(code)),
        isProposal(item) ? this.claims(item, ruled) : null,
        move === "challenge" && code === null ? this.challenged(target, item.part, id) : null,
        words ? el("div", { class: "words" }, longText(String(words))) : null,
        el("p", { class: "note" }, this.grounds(because),
          trials.length ? [" Tried just before: ", this.trials(trials), "."] : null),
        item.answer === null ? null : this.answer(item.answer));
    }

    moved({ move, target, conduct, part }) {
      const to = target === null ? "" : this.link(target);
      if (move === "propose") return ["proposes ", this.people.conductNode(conduct)];
      if (move === "amend") return ["amends ", to, " to ", this.people.conductNode(conduct)];
      if (move === "support") return ["supports ", to];
      if (move === "challenge") return [`challenges the ${word(part)} of `, to];
      return move === "pass" ? "passes" : `does ${word(move)}`;
    }

    claims({ id, claim }, ruled) {
      const [value, edge] = claim;
      return ["base", ...(edge === null ? [] : ["edge"])].map((part) => {
        const test = this.table.tests.get(`${id} ${part}`);
        const holds = part === "base" ? ruled?.base : ruled?.edge;
        const [claimed, tested] = apart(value, test?.value ?? null);
        return el("div", { class: "claim" },
          dotPlot(this.scale, this.table.bar?.value, value, test?.value ?? null, holds),
          el("p", {}, part === "base" ? "claims " : `claims it under ${seen(edge)} too: `, el("span", { class: "value" }, claimed),
            test === undefined ? ", not tested" : [", tested ", el("span", { class: "value" }, tested), " ", verdict(holds),
              part === "base" && ruled?.sharp ? [" ", el("span", { class: "chip good" }, "sharp")] : null,
              el("span", { class: "note" }, test.by === null ? " at the proof" : [" after ", this.link(test.by)])]));
      });
    }

    challenged(target, part, id) {
      const test = this.table.tests.get(`${target} ${part}`);
      const ruled = this.ruled.get(target);
      const holds = part === "base" ? ruled?.base : ruled?.edge;
      if (test === undefined || holds === null || holds === undefined) return null;
      return el("p", {}, `${test.by === id ? "Tested at once" : "Tested"}: ${number(test.value)}. `,
        el("span", { class: `chip ${holds ? "" : "good"}` }, holds ? "not sustained" : "sustained"));
    }

    grounds(because) {
      if (!Array.isArray(because) || because.length !== 2 || !Array.isArray(because[0])) return null;
      const [ids, own] = because;
      if (!ids.length && own !== true) return null;
      return ["Relies on ", this.links(ids), ids.length && own === true ? " and " : "", own === true ? "its own trials" : "", "."];
    }

    answer({ text, source }) {
      return el("div", { class: "raw" }, fold(`Its answer as it came${modelOf(source)}`, false, () => longText(text)));
    }

    // Whether the contribution with this id differs in the other run.
    differs({ id, code, move, target, conduct, claim, part, words, agent }) {
      if (!this.other || id === null) return false;
      const there = this.other.said[id];
      const own = { code, move, target, conduct, claim, part, words, agent };
      return there === undefined || Object.entries(own).some(([name, value]) => textOf(there[name]) !== textOf(value));
    }

    edges() {
      return this.table.said.filter(({ code, target, move }) => code === null && target !== null && move !== "pass")
        .map(({ id, target, move }) => ({ from: id, to: target, move }));
    }
  }

  const stage = (title, says) => el("li", { class: "round" }, el("h4", {}, title), el("p", { class: "note" }, says));

  const verdict = (holds) => holds === null || holds === undefined
    ? "" : el("span", { class: `chip ${holds ? "good" : "bad"}` }, holds ? "holds" : "does not hold");

  // Model and tokens of an answer, if its source has them.
  function modelOf(source) {
    if (source === null || source === undefined) return "";
    const { model, tokens_in: read, tokens_out: written } = source;
    const tokens = [read, written].every((count) => typeof count === "number") ? `, ${plural(read, "token")} in, ${written.toLocaleString("en")} out` : "";
    return ` (${model === undefined ? "no model" : seen(model)}${tokens})`;
  }

  // The list of cards, with a gutter of lines from each card to those that it refers to.
  function listOf(cards) {
    const gutter = svg("svg", { class: "edges", "aria-hidden": "true" });
    const list = el("ol", { class: "cards" }, cards.rows().map(([, node]) => node));
    new ResizeObserver(() => drawEdges(gutter, list, cards.edges(), cards.position.line)).observe(list);
    return el("div", { class: "transcript" }, gutter, list);
  }

  function drawEdges(gutter, list, edges, line) {
    const top = list.getBoundingClientRect().top;
    const places = new Map([...list.querySelectorAll("[data-line]")].map((card) =>
      [Number(card.dataset.line), card.getBoundingClientRect().top - top + 18]));
    const drawn = edges.filter(({ from, to }) => places.has(from) && places.has(to))
      .map((edge) => ({ ...edge, low: places.get(edge.to), high: places.get(edge.from) }))
      .toSorted((one, other) => one.high - one.low - (other.high - other.low));
    const lanes = [];
    for (const edge of drawn) {
      let lane = lanes.findIndex((taken) => taken.every(({ low, high }) => edge.high <= low || edge.low >= high));
      if (lane < 0) lane = lanes.length < EDGES.lanes ? lanes.push([]) - 1 : EDGES.lanes - 1;
      lanes[lane].push(edge);
      edge.lane = lane;
    }
    const width = EDGES.left + EDGES.step * (lanes.length + 1);
    const height = list.offsetHeight;
    gutter.setAttribute("width", width);
    gutter.setAttribute("height", height);
    gutter.setAttribute("viewBox", `0 0 ${width} ${height}`);
    gutter.replaceChildren(...drawn.map(({ from, to, move, low, high, lane }) => {
      const x = width - EDGES.left - EDGES.step * (lane + 1) + 2;
      const isChosen = String(from) === line || String(to) === line;
      const end = low + 5;
      return svg("g", { class: `edge ${move}${isChosen ? " chosen" : ""}` },
        svg("path", { d: `M${width} ${high}H${x + 5}Q${x} ${high} ${x} ${high - 5}V${end + 5}Q${x} ${end} ${x + 5} ${end}H${width - 6}` }),
        svg("path", { class: "tip", d: `M${width} ${end}l-7 -3.5v7z` }));
    }));
  }

  // Two tables side by side, contribution by contribution.
  function pairOf(one, other) {
    const order = (a, b) => {
      for (let index = 0; index < 4; index += 1) {
        const by = (a[0][index] ?? 0) - (b[0][index] ?? 0);
        if (by) return by;
      }
      return 0;
    };
    const rows = new Map();
    [one, other].forEach((cards, side) => cards?.rows().forEach((row) => {
      const key = row[0].join(" ");
      if (!rows.has(key)) rows.set(key, [row[0], null, null]);
      rows.get(key)[side + 1] = row[1];
    }));
    return el("div", { class: "pairs" }, [...rows.values()].toSorted(order).map(([, a, b]) =>
      el("div", { class: `pair ${a !== null && b !== null && a.isEqualNode(b) ? "same" : ""}` }, [a, b].map((node, side) =>
        el("ol", { class: "cards", "aria-label": `Run ${"AB"[side]}` }, node ?? el("li", { class: "note nothing" }, "–"))))));
  }

  return { Cards, scaleOf, dotPlot, listOf, pairOf, legendOf, modelOf };
})();
