"""What a world brings so that studies of it can be planned, judged and reported: `Studies`.

Many runs are compared by treatment, roster and seed in the same way whatever the world is. What a
run's settings and players are called, which figures are to change and what a page says of one world
alone is the world's: it stands in this record, in the world's toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import attrs

from goldrush.agents.players import Players
from goldrush.kernel.errors import BadInput
from goldrush.kernel.rosters import Config
from goldrush.kernel.treatments import BASELINE, Treatment
from goldrush.kernel.world import World
from goldrush.replay.toolkit import Measures, Toolkit, players_of, toolkit_for

if TYPE_CHECKING:
    from goldrush.replay.measures import Measured
    from goldrush.replay.report.figures import Drawn
    from goldrush.replay.report.page import Block
    from goldrush.replay.report.sections import Study
    from goldrush.replay.study.results import Result, Results

K = TypeVar("K")  # what a world keeps of a run

MIXED: Final = "mixed"  # the roster that a world takes by default


@attrs.frozen
class Covariate:
    """A figure that is known of a configuration before it is played, and stands beside whatever is
    said of it: its `name`, and how it follows from the settings.
    """

    name: str
    of: Callable[[Any], float]


def _never(result: Result[Any, Any]) -> bool:
    return False


@attrs.frozen
class Nothing:
    """What there may be none of to reduce: `measure` is 0 then, in both halves of all runs; `says`
    so in words. `uncounted(result)`: whether a run had some that the measure leaves out.
    """

    measure: str
    text: str
    uncounted: Callable[[Result[Any, Any]], bool] = _never


@attrs.frozen
class Criterion:
    """What is to change from the first half of a run to the second: by measure +1 (it is to rise)
    or -1 (to fall). `says` so in words; `nothing`: see there.
    """

    name: str
    text: str
    expected: Mapping[str, int]
    nothing: Nothing | None = None


@attrs.frozen
class Criteria:
    """The criteria of a world, and what they are held against.

    - `null`: the policy that cannot learn: what it shows, too, counts for nobody.
    - `sizes`: with how many agents each criterion must hold.
    - `where`: treatments that differ in these numbers alone, in words.
    - `start`: what happens in the first tenth of a run, in words.
    """

    every: Sequence[Criterion] = ()
    null: str = ""
    sizes: Sequence[int] = ()
    where: str = ""
    start: str = "the beginning of a run"

    @property
    def expected(self) -> dict[str, int]:
        """The direction of every measure that is judged."""
        return {name: sign for one in self.every for name, sign in one.expected.items()}

    def with_agents(self, joint: str = "and") -> str:
        """The sizes in words."""
        first, *others = self.sizes
        return f"with {first} agents" + "".join(f" {joint} with {size}" for size in others)


@attrs.frozen
class OwnFigure:
    """A figure of each treatment that one world alone has: its `name`, `draw(cells, looks)`, a
    `title`, what it shows (`says`), and the `commands` that give its numbers, with {} for journals.
    """

    name: str
    draw: Callable[..., Drawn]
    title: str
    text: str
    commands: Sequence[str]


@attrs.frozen
class Chapter:
    """What a report says of one world alone.

    - `tables`: the word for its tables.
    - `summary(study)`: what stands above all else, if not what the criteria give: tiles, the
      finding in a sentence, a figure.
    - `head(study)`: behind what was studied; `sections(study)`: behind the comparisons.
    - `figures`: of each treatment.
    - `caveat(study)`: what must be said of comparisons with the baseline.
    - `settings(treatment, configuration, agents)`: a treatment in words; `agents`: in words, too.
    - `whole`: what the value of a whole run is.
    """

    tables: str
    head: Callable[[Study], Sequence[Block]]
    sections: Callable[[Study], Sequence[Block]]
    figures: Sequence[OwnFigure]
    caveat: Callable[[Study], str]
    settings: Callable[[str, Any, str], str]
    whole: str
    summary: Callable[[Study], Sequence[Block]] | None = None


def _same_settings(ours: Config, theirs: Config, policies: Sequence[str]) -> bool:
    return {**ours.as_dict(), "seed": 0} == {**theirs.as_dict(), "seed": 0}


def _no_answers(results: Results[Any, Any]) -> Mapping[str, Any]:
    return {}


def _nothing_said(results: Results[Any, Any]) -> Sequence[str]:
    return ()


def _keep_nothing(measured: Measured[Any]) -> Any:
    return None


def _as_it_is(own: Any) -> Any:
    return own


def _by_others(config: Any) -> bool:
    return False


@attrs.frozen
class Kept(Generic[K]):
    """What a world's chapter needs of a run: `of(measured)`. It goes from one process to another.

    From one report to the next it is kept as plain values that kernel.codec packs: `pack(own)`,
    `unpack(values)`. `lasts(config)`: whether all measures of a run with this configuration follow
    from its journal and from code of goldrush alone; others are worked out anew each time, as
    nobody knows when the code of another distribution changes.
    """

    of: Callable[[Any], K] = _keep_nothing
    pack: Callable[[K], Any] = _as_it_is
    unpack: Callable[[Any], K] = _as_it_is
    lasts: Callable[[Any], bool] = _by_others


@attrs.frozen
class Studies:
    """How a world is studied. Its runs record `config` and who plays (see Vocabulary.players), an
    entry an agent with its `policy` and `options`.

    - `title`: the question that a report asks.
    - `size`: the setting that says how many agents play.
    - `config(settings)`: the configuration with these settings. Raises BadInput.
    - `seats(roster, agents)`: whom a roster's text names for each agent that is studied; None: the
      default roster, and as many agents as the roster has. Nobody is looked for under these names.
      Raises BadInput.
    - `baselines`: the rosters that `baselines` stands for; MIXED is the default roster.
    - `criteria`: see there; none for a world that is compared and not judged.
    - `same(ours, theirs, policies)`: whether two configurations lead to the same run with these
      policies, whatever the seed.
    - `covariate`: see there.
    - `kept`: see there.
    - `answers(results)`: what stands in the chapter's tables, for JSON; `says(results)`: the most
      important of it for the terminal, line by line.
    - `curves`: the measures that are drawn over the units (None: all that a unit has); `compared`:
      those that are drawn where treatments are compared (None: all).
    - `chapter()`: what a report says of this world alone; made by a function, as nothing
      else needs it.
    """

    title: str
    config: Callable[[Mapping[str, Any]], Any]
    seats: Callable[[str | None, int | None], Sequence[str]]
    baselines: Sequence[str] = (MIXED,)
    criteria: Criteria = Criteria()
    same: Callable[[Any, Any, Sequence[str]], bool] = _same_settings
    covariate: Covariate | None = None
    kept: Kept[Any] = Kept()
    answers: Callable[[Any], Mapping[str, Any]] = _no_answers
    summary: Callable[[Any], Sequence[str]] = _nothing_said
    curves: Sequence[str] | None = None
    compared: Sequence[str] | None = None
    chapter: Callable[[], Chapter] | None = None
    size: str = "agents"


@attrs.frozen
class Studied:
    """A world that can be studied: its name, and what tools ask of it."""

    name: str
    toolkit: Toolkit
    studies: Studies
    players: Players[Any]

    @property
    def world(self) -> World[Any]:
        """The world itself."""
        return self.toolkit.world({})

    @property
    def units(self) -> str:
        """The word for the units that a horizon counts."""
        return self.world.vocabulary.units

    @property
    def treatments(self) -> Mapping[str, Treatment[Any]]:
        """The treatments of the world by name, the baseline among them."""
        return {BASELINE: Treatment(BASELINE, ""), **self.toolkit.treatments}

    @property
    def measures(self) -> Measures:
        """Its measures. Raises BadInput where it has none."""
        if self.toolkit.measures is None:
            raise BadInput(f"the {self.name} world has no measures", "report on another world")
        return self.toolkit.measures()

    @property
    def settings(self) -> type[attrs.AttrsInstance]:
        """The class of its settings."""
        assert self.toolkit.config is not None  # who has studies has settings
        return self.toolkit.config


def studied(name: str) -> Studied:
    """A world by its name. Raises BadInput for one that is not known, or cannot be studied."""
    toolkit = toolkit_for(name)
    if toolkit.studies is None:
        raise BadInput(f"the {name} world has no studies", "take another --world")
    return Studied(name, toolkit, toolkit.studies(), players_of(toolkit, name))
