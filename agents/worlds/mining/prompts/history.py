"""The past in prompts: what happened to all, and what an agent lost.

A line has everything public of a round, with its actors. Lines that do not fit go over into counts,
half of them at once, so that the text grows at its end for as long as possible: servers charge less
for a known prefix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from goldrush.agents.llm.messages import plural
from goldrush.agents.llm.parts import cut, size
from goldrush.agents.worlds.mining.prompts.terms import ITEMS, LIST, Terms, number
from goldrush.kernel.grouping import grouped
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import (
    KINDS,
    MINE,
    OUTCOMES,
    REASONS,
    RULED,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.history import (
    Outcomes,
    PastAction,
    PublicClaim,
    PublicRaid,
    public_round,
)
from goldrush.kernel.worlds.mining.state import RoundRecord

LINE_MAX: Final = 2_400  # bytes of the line of a round
LINES_MAX: Final = 12_000  # of all lines, with their ends
COUNTS_MAX: Final = 2_000  # of each kind of counts
LOSSES_MAX: Final = 1_000
OWN_MAX: Final = 1_600  # of the lines of own actions
OWN_SUM_MAX: Final = 1_000  # of own actions that do not fit

_Pair = tuple[int, int]  # raider and owner
_CAPTURED: Final = OUTCOMES[RaidOutcome.CAPTURED]


class History:
    """The past in the terms of one wording."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._rules: tuple[object, dict[Hashable, str]] = None, {}

    def rules_for(self, config: MiningConfig) -> dict[Hashable, str]:
        """The texts of the rules of a configuration, for who renders them; kept from round to round
        while the configuration is the same.
        """
        if self._rules[0] is not config:
            self._rules = config, {}
        return self._rules[1]

    def text(self, records: Sequence[RoundRecord]) -> str:
        """What happened in these rounds; empty if there are none."""
        lines: list[str] = []
        sizes: list[int] = []
        for record in records:
            line, length = record.view(self.line)
            lines.append(line)
            sizes.append(length + 1)
            if sum(sizes) > LINES_MAX:
                gone = (len(lines) + 1) // 2
                del lines[:gone], sizes[:gone]
        together = records[: len(records) - len(lines)]
        text = "\n".join(filter(None, [*self._together(together), *lines]))
        return self.terms("history", lines=text) if text else ""

    def line(self, record: RoundRecord) -> tuple[str, int]:
        """The line of a round, and its bytes."""
        facts = self._facts(record)
        line = self._line(record.round, facts, LINE_MAX)
        if size(line) > LINE_MAX:
            around = size(self._line(record.round, facts, 0))
            share = (LINE_MAX - around) // max(1, len(facts))
            line = cut(self._line(record.round, facts, share), LINE_MAX)
        return line, size(line)

    def _line(self, round: int, facts: Mapping[str, Sequence[str]], most: int) -> str:
        """A line whose lists take at most `most` bytes each."""
        events = (
            self.terms(
                f"history_{kind}",
                items=self.terms.limited(items, most, LIST if kind == "defended" else ITEMS),
            )
            for kind, items in facts.items()
        )
        events_ = " ".join(filter(None, events)) or self.terms("history_nothing")
        return self.terms("history_round", round=round, events=events_)

    def _facts(self, record: RoundRecord) -> Mapping[str, Sequence[str]]:
        """The events of a round by kind, without the kinds that did not occur."""
        terms, public = self.terms, record.view(public_round)
        by_outcome = grouped(public.raids, attrgetter("outcome"))
        rulings: dict[str, list[str]] = {}
        for plot, captor, victim, _, remedy, _, _ in record.rows(RULED):
            # Never how much the fine was: it may be all that the agent had.
            id, who = ("restored", victim) if remedy == Remedy.RESTORED else ("fined", captor)
            said = terms(id, plot=terms.plot(plot), owner=terms.agent(who), agent=terms.agent(who))
            rulings.setdefault(id, []).append(said)
        facts: dict[str, Sequence[str]] = {
            "claims": list(map(self._claim, public.claims)),
            **{
                outcome: list(map(self._raid, by_outcome.get(outcome, ())))
                for outcome in reversed(OUTCOMES)
            },
            "restored": rulings.get("restored", ()),
            "fined": rulings.get("fined", ()),
            "defended": list(terms.spans(public.defended)),
        }
        return {kind: items for kind, items in facts.items() if items}

    def _claim(self, claim: PublicClaim) -> str:
        terms, several = self.terms, len(claim.claimants) > 1
        agents = {"claimants": terms.agents(claim.claimants)} if several else {}
        return terms(
            plural("claimed_by", len(claim.claimants)),
            plot=terms.plot(claim.plot), winner=terms.agent(claim.winner), **agents,
        )  # fmt: skip

    def _raid(self, raid: PublicRaid) -> str:
        terms = self.terms
        say = partial(
            terms, plot=terms.plot(raid.plot), owner=terms.agent(raid.owner),
            raiders=terms.agents(raid.raiders),
        )  # fmt: skip
        if raid.winner is None or len(raid.raiders) == 1:
            return say("raided")
        return say("raided_and_won", winner=terms.agent(raid.winner))

    def _together(self, records: Sequence[RoundRecord]) -> Iterator[str]:
        """The numbers of events in rounds that are too long ago for lines."""
        if not records:
            return
        terms, claims = self.terms, Counter[int]()
        raids, captures = Counter[_Pair](), Counter[_Pair]()
        together: Sequence[Counter[Any]] = (claims, raids, captures)
        for record in records:
            for counts, more in zip(together, record.view(counted), strict=True):
                counts.update(more)
        yield terms(
            plural("together", len(records)), first=records[0].round, last=records[-1].round
        )
        winners = sorted(claims.items(), key=lambda item: (-item[1], item[0]))
        raiders = sorted(raids.items(), key=lambda item: (-item[1], *item[0]))

        def won(item: tuple[int, int]) -> str:
            return terms("claims_won", agent=terms.agent(item[0]), number=item[1])

        def made(item: tuple[tuple[int, int], int]) -> str:
            (raider, owner), number = item
            return terms(
                "raids_made", agent=terms.agent(raider),
                owner=terms.agent(owner if owner >= 0 else None),
                number=number, captures=captures[raider, owner],
            )  # fmt: skip

        yield self._counts("together_claims", winners, won)
        yield self._counts("together_raids", raiders, made)

    def _counts(self, id: str, items: Sequence[Any], text: Any) -> str:
        if not items:
            return ""
        room = COUNTS_MAX - size(self.terms(id, items=""))
        return cut(self.terms(id, items=self.terms.limited(items, room, ITEMS, text)), COUNTS_MAX)

    def losses(self, records: Sequence[RoundRecord], agent: int) -> str:
        """The plots of an agent that were captured in these rounds, the latest first."""
        terms = self.terms
        lost = [
            (record.round, *loss)
            for record in records
            for loss in record.view(losses_by_owner).get(agent, ())
        ]
        if not lost:
            return ""

        def said(loss: tuple[int, int, int, bool]) -> str:
            round, plot, captor, is_back = loss
            id = "loss_restored" if is_back else "loss"
            return terms(id, round=round, plot=terms.plot(plot), agent=terms.agent(captor))

        return terms("losses", items=terms.limited(reversed(lost), LOSSES_MAX, ITEMS, said))

    def own_actions(self, records: Sequence[RoundRecord], agent: int) -> str:
        """An agent's actions in these rounds, one line a round: the last rounds that fit, and a
        summary of those before them.
        """
        lines: list[str] = []
        room = OWN_MAX
        for record in reversed(records):
            line = self._own_line(record, agent)
            room -= size(line) + 1
            if room < 0:
                break
            lines.append(line)
        before = records[: len(records) - len(lines)]
        text = "\n".join(filter(None, [self._in_sum(before, agent), *reversed(lines)]))
        return self.terms("own", lines=text) if text else ""

    def _no_lines(self, record: RoundRecord) -> dict[int, str]:
        return {}

    def _own_line(self, record: RoundRecord, agent: int) -> str:
        """The line of an agent's actions in a round."""
        lines = record.view(self._no_lines)  # is filled as lines are needed
        if agent not in lines:
            done = list(self._done(_actions(record, agent)))
            actions = self.terms.limited(done, OWN_MAX // 3, ITEMS)
            said = actions if done else self.terms("own_none")
            line = self.terms("own_round", round=record.round, actions=said)
            lines[agent] = cut(line, OWN_MAX)
        return lines[agent]

    def _done(self, actions: Iterable[PastAction]) -> Iterator[str]:
        """Actions in the order of the plan; equal ones with equal results in a row are one item."""
        terms = self.terms
        for (kind, amount, result, gold), group in groupby(actions, _alike):
            plots = [action.plot for action in group if action.plot is not None]
            id = "own_with" if amount != 1 or kind == KINDS[MINE] else "own_action"
            brought = {"mined": plural("gold", len(plots)), "fined": "fined_of"}.get(result)
            yield terms(
                "own_malformed" if kind is None else id,
                kind=self._kind(kind), amount=amount,
                plots=terms.limited(plots, OWN_MAX // 8, text=terms.plot),
                result=terms(brought, gold=number(abs(gold)))
                if brought
                else self._result(kind, result),
            )  # fmt: skip

    def _in_sum(self, records: Sequence[RoundRecord], agent: int) -> str:
        """The actions of an agent in rounds before those with a line; empty if it had none."""
        terms, gold = self.terms, 0.0
        counts: Counter[tuple[str | None, str]] = Counter()
        for record in records:
            for action in _actions(record, agent):
                counts[action.kind, action.result] += 1
                gold += action.gold
        if not counts:
            return ""

        def times(item: tuple[tuple[str | None, str], int]) -> str:
            (kind, result), times = item
            said = self._result(kind, result)
            return terms("own_times", kind=self._kind(kind), result=said, number=times)

        said = terms(
            plural("own_together", len(records)),
            first=records[0].round, last=records[-1].round, gold=number(gold),
            actions=terms.limited(counts.most_common(), OWN_SUM_MAX // 2, ITEMS, times),
        )  # fmt: skip
        return cut(said, OWN_SUM_MAX)

    def _kind(self, kind: str | None) -> str:
        return self.terms("own_no_kind") if kind is None else self.terms.names.kind(kind)

    def _result(self, kind: str | None, result: str) -> str:
        if result in REASONS:
            return self.terms(f"removed_{result.replace('-', '_')}")
        return self.terms(f"result_{kind}_{result}")


def _actions(record: RoundRecord, agent: int) -> Iterator[PastAction]:
    """An agent's actions with their results: captures for which it was fined cost it gold."""
    fines = {row[0]: float(row[5]) for row in record.rows(RULED) if row[4] == Remedy.FINED}
    for action in record.view(Outcomes).of(agent):
        is_fined = action.result == _CAPTURED and action.plot in fines
        yield replace(action, result="fined", gold=-fines[action.plot]) if is_fined else action


def _alike(action: PastAction) -> tuple[str | None, int, str, float]:
    return action.kind, action.amount, action.result, action.gold


def counted(record: RoundRecord) -> Sequence[Counter[Any]]:
    """Numbers of events in a round: claims won by agent; raids, and captures, by (raider, owner),
    where -1 stands for nobody.
    """
    public, raids, captures = record.view(public_round), Counter[_Pair](), Counter[_Pair]()
    for raid in public.raids:
        owner = -1 if raid.owner is None else raid.owner
        raids.update((raider, owner) for raider in raid.raiders)
        if raid.winner is not None:
            captures[raid.winner, owner] += 1
    return Counter(claim.winner for claim in public.claims), raids, captures


def losses_by_owner(record: RoundRecord) -> Mapping[int, Sequence[tuple[int, int, bool]]]:
    """The plots captured in a round, by their owner before: plot, captor, whether an authority gave
    it back.
    """
    back = {row[0] for row in record.rows(RULED) if row[4] == Remedy.RESTORED}
    losses: dict[int, list[tuple[int, int, bool]]] = {}
    for raid in record.view(public_round).raids:
        if raid.outcome == _CAPTURED and raid.owner is not None and raid.winner is not None:
            losses.setdefault(raid.owner, []).append((raid.plot, raid.winner, raid.plot in back))
    return losses
