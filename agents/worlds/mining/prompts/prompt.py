"""The prompts of language models that play mining, which wordings can change.

A prompt has two messages: the rules; and the round, which begins with what all agents with the same
wording are shown, what changes least first, because servers charge less for a known prefix. Text of
other agents is quoted, cut and escaped, so it can neither end its quotation nor look like a message
of the simulation. Every part has a limit in bytes of UTF-8 in any wording, and a token is at least
a byte, so prompts are bounded on any map, with any history.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from itertools import compress
from typing import Final

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.messages import Messages, plural
from goldrush.agents.llm.options import AGENT, FIELD, FIXED
from goldrush.agents.llm.parts import quoted, size
from goldrush.agents.llm.question import Message, Source
from goldrush.agents.llm.wording_files import shipped_in
from goldrush.agents.llm.wording_rosters import framed_in
from goldrush.agents.llm.wordings import ID, Framed, Wordable, Wording
from goldrush.agents.worlds.mining.parse import Form, parse
from goldrush.agents.worlds.mining.prompts.history import History
from goldrush.agents.worlds.mining.prompts.terms import ITEMS, Terms, number
from goldrush.kernel.draws import Draws
from goldrush.kernel.grouping import grouped
from goldrush.kernel.settings import choice, integer
from goldrush.kernel.shape import TEXT, Schema, optional, record, several
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import ADJUDICATE, POINTWISE
from goldrush.kernel.worlds.mining.events import KINDS, SAY_MAX
from goldrush.kernel.worlds.mining.observe import Authority, MiningObservation
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import message_of

# Limits of the parts, in bytes, without their headings; see also history.py. A part says how many
# items are left out. With scripted agents all is shown in every treatment.
NAMES_MAX: Final = 1_000  # of all agents
ALPHAS_MAX: Final = 1_200
MAP_MAX: Final = 3_000
TRUCES_MAX: Final = 1_000
PLOTS_MAX: Final = 400  # own
HEARD_MAX: Final = 6_100  # twenty messages of full length in ASCII
SHARE_MIN: Final = 80  # of one message, with its frame
FRAME_MAX: Final = len("agent 99999: ") + len(" (cut)") + 1
NOTE_SHOWN_MAX: Final = 8_000
NOTE_MAX: Final = 2_000  # characters, after cleaning
# Tabs and line ends become spaces; other control characters (C0, delete, C1) go; lone surrogates
# are not valid text.
_CLEANED: Final[dict[int, str | None]] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys(map(ord, "\t\n\v\f\r\x85\u2028\u2029"), " "),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}

PACKAGE: Final = "goldrush.agents.worlds.mining.prompts"
MESSAGES: Final = Messages(PACKAGE, "prompt.toml")
KEYS: Final = ("actions", "type", "plot", "stamina")
_ITEMS: Final = (
    "alpha", "map_columns", "map_row", "plot_of", "nobody", "more", "heard_from", "heard_from_you",
    "heard_more", "truce_until", "loss", "loss_restored", "claimed_by_one", "claimed_by_many",
    "raided", "raided_and_won", "restored", "fined", "fined_of", "claims_won", "raids_made",
    "together_claims", "together_raids",
)  # fmt: skip
_ITEMS_BEGIN: Final = ("history_", "own_", "result_", "removed_", "gold_")
_LONG: Final = (
    "names", "alphas", "plots", "grid", "form", "lines", "events", "items", "claimants", "raiders",
    "unowned", "owned", "actions", "result", "messages", "text", "note", "kind",
)  # fmt: skip


@cache
def wordable() -> Wordable:
    """What wordings can change."""
    return Wordable(
        MESSAGES,
        kinds=KINDS,
        keys=KEYS,
        agents=True,
        plots=True,
        items=[id for id in MESSAGES.texts if id in _ITEMS or id.startswith(_ITEMS_BEGIN)],
        long=_LONG,
        more=dict.fromkeys(MESSAGES.texts, KINDS),
        times={"none": 2},
        shipped=shipped_in(PACKAGE),
    )


@lru_cache(maxsize=64)  # a run has a few
def _history_of(wording: Wording, variant: int, cols: int) -> History:
    return History(Terms(wording.variants[variant], wording.names, cols))


@lru_cache(maxsize=64)
def form_of(wording: Wording) -> Form:
    """The form in which answers are read."""
    names = wording.names
    amount = names.key("stamina")
    return Form(
        {names.kind(kind): kind for kind in KINDS},
        names.key("actions"), names.key("type"), names.key("plot"),
        (amount,) if names.keys else (amount, "k"),
        by_row=names.plots != ID,
    )  # fmt: skip


@lru_cache(maxsize=1_024)
def _schema(
    wording: Wording, order: Sequence[str], plots: int, most: int, texts: Sequence[str]
) -> Schema:
    """`most`: stamina of an action. `texts`: the keys after the plan, all of text."""
    names = wording.names
    action = {
        names.key("type"): choice(*map(names.kind, order)),
        names.key("plot"): integer(0, plots - 1) if names.plots == ID else TEXT,
        names.key("stamina"): integer(1, most),
    }
    plan = {names.key("actions"): several(record(**action), most)}
    more = {key: optional(TEXT) if key == "note" else TEXT for key in texts}
    return record(**plan, **more).schema


class PlanPrompts:
    """The prompts of models in one round, and how their answers are read. What several agents are
    shown is made once, when it is needed.
    """

    def __init__(self, state: MiningState) -> None:
        self.state = state
        self._shared: dict[History, str] = {}  # what all with a wording are shown

    @cached_property
    def framed(self) -> Callable[[int], Framed]:
        """How each agent is asked."""
        return framed_in(self.state.roster, self.state.config.seed, wordable())

    def messages(self, agent: int) -> tuple[Message, Message]:
        """The two messages of an agent's prompt, with `role` and `content`."""
        framed, seen = self.framed(agent), MiningObservation(self.state, agent)
        history = _history_of(framed.wording, framed.variant, seen.cols)
        order = self._order(framed, agent)
        rules = history.rules_for(self.state.config)
        key = (order, framed.notes, framed.reasoning)
        if key not in rules:
            rules[key] = _joined(_rules(history.terms, self.state, framed, order))
        if history not in self._shared:
            state, terms = self.state, history.terms  # what changes least comes first
            all_see = [history.text(state.history), _map(terms, seen), _truces(terms, state)]
            self._shared[history] = _joined(all_see)
        own = _joined(self._own(history, seen, framed))
        return (
            {"role": "system", "content": rules[key]},
            {"role": "user", "content": _joined([self._shared[history], own])},
        )

    def schema(self, agent: int) -> Schema:
        """The JSON schema of an answer, without reasoning: a plan as a list, most important action
        first.
        """
        framed, config = self.framed(agent), self.state.config
        most = max(1, self.state.staminas[agent])
        texts = _texts(framed, config.communication)
        return _schema(framed.wording, self._order(framed, agent), config.plots, most, texts)

    def row(self, agent: int, text: str | None, error: str | None, source: Source) -> Row:
        """The row of an answer. Where an agent may have a note, each of its rows holds the last.
        `no-answer` and `refusal` leave the plan empty, `cut` is recorded if the text has no plan.
        """
        state, framed = self.state, self.framed(agent)
        note = state.memo[agent] if framed.notes else None
        if text is None or error in (NO_ANSWER, REFUSAL):
            return (agent, (), error, None, note, source)
        config = state.config
        parsed = parse(text, config.rows, config.cols, config.defense, form_of(framed.wording))
        actions = tuple(
            action and (KINDS.index(action[0]), *action[1:]) for action in parsed.actions
        )
        if parsed.error != NO_JSON:
            error = parsed.error
        say = message_of(parsed.say, config)
        if framed.notes:
            note = note_after(note, parsed.note)
        return (agent, actions, error or parsed.error, say, note, source)

    def _order(self, framed: Framed, agent: int) -> tuple[str, ...]:
        """The order in which an agent is told the kinds of action."""
        if framed.order == FIXED:
            return KINDS
        key = agent if framed.order == AGENT else 0
        return tuple(Draws(self.state.config.seed, 0, key, "order").shuffled(KINDS))

    def _own(self, history: History, seen: MiningObservation, framed: Framed) -> Iterable[str]:
        """What the agent alone is shown."""
        terms = history.terms
        yield terms("you", agent=terms.agent(seen.agent), round=seen.round, rounds=seen.rounds)
        yield framed.persona or ""
        own = terms.plots(seen.own, PLOTS_MAX)
        yield _lines(
            terms("has", gold=number(seen.gold), stamina=seen.stamina),
            terms("plots", plots=own) if own else terms("plots_none"),
        )
        yield history.losses(self.state.history, seen.agent)
        yield history.own_actions(self.state.history, seen.agent)
        yield self._heard(terms, seen)
        if framed.notes:
            yield (
                terms("note_none")
                if seen.memo is None
                else terms("note_was", note=quoted(seen.memo, NOTE_SHOWN_MAX))
            )
        yield terms("question", round=seen.round)

    def _heard(self, terms: Terms, seen: MiningObservation) -> str:
        """The messages of last round, each cut to the same share. The next agent comes first and
        the agent's own last, so that different agents miss different messages if not all fit.
        """
        messages = self._quoted
        if not messages:
            return ""
        first = bisect_right(messages, seen.agent, key=lambda message: message[0])
        ordered = [*messages[first:], *messages[:first]]  # the agent's own last, if it has one

        def said(message: tuple[int, str]) -> str:
            agent, text = message
            if agent == seen.agent:
                return terms("heard_from_you", text=text)
            return terms("heard_from", agent=terms.agent(agent), text=text)

        heard = terms.limited(ordered, HEARD_MAX, "\n", said, "heard_more")
        return terms("heard", round=seen.round - 1, messages=heard)

    @cached_property
    def _quoted(self) -> Sequence[tuple[int, str]]:
        messages = MiningObservation(self.state, 0).messages
        share = max(SHARE_MIN, HEARD_MAX // max(1, len(messages))) - FRAME_MAX
        return [(message.agent, quoted(message.text, share)) for message in messages]


def note_after(before: str | None, note: object) -> str | None:
    """The note that an agent keeps. `note`: that of its answer; only a text replaces the one
    `before`, and an empty text leaves none.
    """
    if not isinstance(note, str):
        return before
    return note.translate(_CLEANED)[:NOTE_MAX] or None


def _joined(parts: Iterable[str]) -> str:
    """Parts with an empty line between them; one that comes out empty leaves none."""
    return "\n\n".join(filter(None, parts))


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _texts(framed: Framed, communication: bool) -> tuple[str, ...]:
    """The keys of an answer after the plan, in their order."""
    return tuple(compress(("say", "note"), (communication, framed.notes)))


# The rules.


def _rules(terms: Terms, state: MiningState, framed: Framed, order: Sequence[str]) -> Iterable[str]:
    """The rules of the configuration, and the form of an answer."""
    seen, is_mixed = MiningObservation(state, 0), len(set(state.staminas)) > 1
    length = terms(plural("length", seen.rounds), rounds=seen.rounds)
    yield terms("alone" if seen.agents == 1 else "among", names=_names(terms, seen.agents),
                agents=seen.agents, length=length)  # fmt: skip
    yield terms("goal")
    ends = {"first": terms.plot(0), "last": terms.plot(seen.rows * seen.cols - 1)}
    is_by_id = terms.names.plots == ID
    yield _sentences(
        terms("map", rows=seen.rows, cols=seen.cols),
        terms("plots_by_id" if is_by_id else "plots_by_row", cols=seen.cols, **ends),
        terms("gold"),
        _alphas(terms, seen),
    )
    yield _sentences(terms("stamina"), terms("stamina_mixed") if is_mixed else "")
    actions = {
        "defend": terms("defend_points" if seen.defense == POINTWISE else "defend_whole"),
        "mine": terms(plural("mine", seen.mining_cap), mining_cap=seen.mining_cap),
        "claim": terms("claim"),
        "raid": _sentences(terms("raid"), "" if seen.truce else terms("raid_unowned")),
    }
    yield _lines(terms("actions"), *(actions[kind] for kind in order), terms("both"))
    truce = plural("truce", seen.truce) if seen.truce else "truce_none"
    yield terms(truce, after=seen.truce - 1)
    yield _authority(terms, seen.authority)
    rulings = "order" if seen.authority is None else "order_rulings"
    yield _sentences(terms(rulings), terms("new_owners"))
    yield terms("limits")
    visibility = seen.visibility
    shown = "shown_all" if isinstance(visibility, str) else plural("shown", visibility)
    yield terms(shown, visibility=visibility)
    yield terms("messages") if seen.communication else ""
    yield from _answer(terms, seen, framed)


def _answer(terms: Terms, seen: MiningObservation, framed: Framed) -> Iterable[str]:
    """The form of an answer, without an example, which would draw agents to what stands in it."""
    keys = {key: terms.names.key(key) for key in KEYS}
    thought = ("reasoning",) if framed.reasoning == FIELD else ()
    texts = _texts(framed, seen.communication)
    item = ", ".join(f'"{keys[key]}": ...' for key in ("type", "plot", "stamina"))
    first, last = ([f'"{key}": "..."' for key in those] for those in (thought, texts))
    form = ", ".join([*first, f'"{keys["actions"]}": [{{{item}}}, ...]', *last])
    is_by_id = terms.names.plots == ID
    yield _lines(
        terms("answer", form=f"{{{form}}}"),
        terms(
            "keys_by_id" if is_by_id else "keys_by_row",
            **{f"key_{key}": keys[key] for key in KEYS},
        ),
    )
    most = {"say": SAY_MAX, "note": NOTE_MAX}
    for key in (*thought, *texts):
        yield terms(key, most=most.get(key))


def _names(terms: Terms, agents: int) -> str:
    if terms.names.agents is None:
        return "0" if agents == 1 else f"0-{agents - 1}"
    return terms.limited(range(agents), NAMES_MAX, text=terms.agent)


def _authority(terms: Terms, authority: Authority | None) -> str:
    if authority is None:
        return ""
    notices = "authority_some" if authority.detection < 1 else "authority_all"
    remedy = "adjudicate" if authority.rule == ADJUDICATE else "punish"
    return _sentences(
        terms(notices, percent=number(authority.detection * 100)),
        terms(remedy, fine=number(authority.fine)),
    )


def _alphas(terms: Terms, seen: MiningObservation) -> str:
    plots = grouped(range(len(seen.alphas)), seen.alphas.__getitem__)
    if len(plots) == 1:
        return terms("alpha_all", alpha=number(seen.alphas[0]))
    richest = sorted(plots, reverse=True)

    def line(alpha: float, most: int = ALPHAS_MAX) -> str:
        return terms("alpha", alpha=number(alpha), plots=terms.plots(plots[alpha], most))

    whole = ITEMS.join(map(line, richest[:ALPHAS_MAX]))
    if len(richest) <= ALPHAS_MAX and size(whole) <= ALPHAS_MAX:
        return terms("alphas", alphas=whole)
    # Where nearly every plot has another value, a grid is shorter.
    grid = _grid(terms, seen, list(map(number, seen.alphas)), ALPHAS_MAX)
    if grid is not None:
        return terms("alphas_grid", grid=grid)
    share = ALPHAS_MAX // min(len(richest), 8)
    alphas = terms.limited(richest, ALPHAS_MAX, ITEMS, lambda alpha: line(alpha, share))
    return terms("alphas_richest", alphas=alphas)


# The round.


def _map(terms: Terms, seen: MiningObservation) -> str:
    """The owners as a grid, or as lists on a map that is too large."""
    owners = ["." if owner is None else terms.agent(owner) for owner in seen.owners]
    grid = _grid(terms, seen, owners, MAP_MAX)
    if grid is not None:
        return terms("map_now", round=seen.round, grid=grid)
    owned = ((plot, owner) for plot, owner in enumerate(seen.owners) if owner is not None)

    def owned_by(item: tuple[int, int]) -> str:
        return terms("plot_of", plot=terms.plot(item[0]), agent=terms.agent(item[1]))

    most = MAP_MAX // 2
    return terms(
        "map_lists",
        round=seen.round,
        unowned=terms.plots(seen.unowned, most) or terms("none"),
        owned=terms.limited(owned, most, text=owned_by) or terms("none"),
    )


def _grid(terms: Terms, seen: MiningObservation, cells: Sequence[str], most: int) -> str | None:
    """A line for each row of the map, below the numbers of the columns; None: it would take more
    than `most` bytes.
    """
    cols = seen.cols
    if 2 * len(cells) > most:
        return None
    heads = [terms("map_columns")]
    for at in range(0, len(cells), cols):
        first, last = terms.plot(at), terms.plot(at + cols - 1)
        heads.append(terms("map_row", row=at // cols, first=first, last=last))
    width, wide = max(map(len, heads)), max(map(len, [*cells, str(cols - 1)]))
    rows = [list(map(str, range(cols)))]
    rows += [list(cells[at : at + cols]) for at in range(0, len(cells), cols)]
    grid = "\n".join(
        " ".join([head.ljust(width), *(cell.rjust(wide) for cell in row)])
        for head, row in zip(heads, rows, strict=True)
    )
    return grid if size(grid) <= most else None


def _truces(terms: Terms, state: MiningState) -> str:
    """The plots in truce, with the last round in which they are."""
    truce = state.config.truce
    if truce < 2:
        return ""  # a truce of one round has ended
    kept = (plot for plot in state.owned if state.in_truce(plot, state.round + 1))
    plots = grouped(kept, lambda plot: state.since[plot] + truce - 1)

    def until(round: int) -> str:
        share = TRUCES_MAX // len(plots)
        return terms("truce_until", round=round, plots=terms.plots(plots[round], share))

    items = terms.limited(sorted(plots), TRUCES_MAX, ITEMS, until)
    return terms("truces", items=items) if items else ""
