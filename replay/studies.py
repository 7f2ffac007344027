"""The record of a world that can be studied: `Studies`.

Runs are compared by treatment, roster and seed in the same way in any world. What is a world's own
(the names of settings and players, the figures that should change, the text of a report) is in this
record, a part of the world's tools.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel.errors import BadInput

if TYPE_CHECKING:
    from goldrush.replay.levelled import Keys, Settings
    from goldrush.replay.study.judging import Verdicts
    from goldrush.replay.study.records import Result

MIXED: Final = "mixed"  # the default roster of a world


@attrs.frozen
class Nothing:
    """The case that there is nothing to reduce: a measure is 0 in both halves of all runs, and none
    had something that the measure leaves out (`uncounted`). `text`: the case as a sentence.
    """

    measure: str
    text: str
    uncounted: Callable[[Result[Any, Any]], bool] = lambda result: False


@attrs.frozen
class Criterion:
    """A change that is expected from the first half of a run to the second: as a sentence, and by
    measure +1 (it should rise) or -1 (it should fall); `nothing`: the case that there is nothing to
    reduce, None if that cannot be.
    """

    name: str
    text: str
    expected: Mapping[str, int]
    nothing: Nothing | None = None


@attrs.frozen
class Criteria:
    """The criteria of a world, and the terms of their verdicts.

    Attributes:
        every: the criteria.
        sizes: the numbers of agents with which each criterion must hold.
        pairs: treatments that differ only in these numbers, by name: fewer agents to more.
        start: the events of the first tenth of a run, as text.
    """

    every: Sequence[Criterion] = ()
    sizes: Sequence[int] = ()
    pairs: Mapping[str, str] = {}
    start: str = "the beginning of a run"

    @property
    def expected(self) -> dict[str, int]:
        """The direction of every measure that is judged."""
        return {name: sign for one in self.every for name, sign in one.expected.items()}

    def needs(self, treatments: Collection[str], null: str) -> str:
        """What a study of these treatments lacks for a verdict, as a sentence without full stop.
        `null`: as in Studies.
        """
        if not self.every:
            return "this world has no criteria"
        if len(self.sizes) == 1:
            return f"a verdict needs runs {self.with_agents()} and a roster other than {null}"
        needed = f"a verdict compares {' with '.join(map(str, self.sizes))} agents"
        lacking = [sorted(set(pair) - set(treatments)) for pair in self.pairs.items()]
        single = [name for names in lacking for name in names if len(names) == 1]
        if single and [] not in lacking:
            options = " ".join(f"--treatment {name}" for name in single)
            return f"{needed} under equal settings; add `{options}`"
        pairs = ", or ".join(map(" and ".join, self.pairs.items()))
        alike = f" ({pairs})" if pairs else ""
        return f"{needed} under equal settings{alike} for a roster other than {null}"

    def with_agents(self, joint: str = "and") -> str:
        """The sizes as text. `joint`: the word between them."""
        first, *others = self.sizes
        return f"with {first} agents" + "".join(f" {joint} with {size}" for size in others)


@attrs.frozen
class Studies:
    """How a world is studied. Its runs record `config` and players (see Vocabulary.players), an
    entry for each agent with its `policy` and `options`.

    Attributes:
        title: the question of a report.
        config: the configuration with these settings. Raises BadInput.
        seats: `seats(roster, agents)`, the name of the policy of each agent. A None for `roster` is
            the default roster, for `agents` the number in the roster. Names are not looked up.
            Raises BadInput.
        baselines: the rosters that `baselines` stands for; MIXED is the default roster.
        null: the policy that cannot learn, with which others are compared: a change in its runs is
            no evidence for them. Empty: there is none.
        policies: those from whose order the hues of policies follow; see replay.colours.
        criteria: those of the world; none for a world that is compared and not judged.
        same: `same(ours, theirs, policies)`, whether two cells' settings (`Results.settings`, which
            have no seed) lead to the same run with these policies.
        covariate: the name of a figure of a configuration, which is known before the run and is
            shown beside its results; empty: there is none.
        kept: `kept(measured)`, what the world's chapter needs of a measured run besides its
            measures. It is passed between processes, and cached as a value of the type that the
            function is annotated to return, whose collections are mappings and tuples.
        lasts: whether all measures of a run with a configuration follow from its journal and the
            code of goldrush alone. Others are computed for each report, as the code of another
            distribution may change at any time.
        answers: `answers(results)`, the tables of the chapter for JSON.
        verdicts: `verdicts(results)`, those on criteria of the world's own in place of `criteria`;
            None: there are none.
        compared: the measures that are drawn, over the units and where treatments are compared;
            None: all.
        size: the setting with the number of agents; empty: nobody plays.
        seeded: `seeded(settings)`, the settings other than `seed` whose default is the seed, each
            as the keys that lead to it; see replay.levelled. Raises nothing.
    """

    title: str
    config: Callable[[Mapping[str, Any]], Any]
    seats: Callable[[str | None, int | None], Sequence[str]]
    baselines: Sequence[str] = (MIXED,)
    null: str = ""
    policies: Sequence[str] = ()
    criteria: Criteria = Criteria()
    same: Callable[[Settings, Settings, Sequence[str]], bool] = lambda ours, theirs, policies: (
        ours == theirs
    )
    covariate: str = ""
    kept: Callable[[Any], Any] = lambda measured: None
    lasts: Callable[[Any], bool] = lambda config: False
    answers: Callable[[Any], Mapping[str, Any]] = lambda results: {}
    verdicts: Callable[[Any], Verdicts] | None = None
    compared: Sequence[str] | None = None
    size: str = "agents"
    seeded: Callable[[Settings], Sequence[Keys]] = lambda settings: ()


def _unknown(*given: object) -> Any:
    raise BadInput("this world has no studies", "take another --world")


NO_STUDIES: Final = Studies("", _unknown, _unknown)
