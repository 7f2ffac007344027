"""The golden journals: one small run a treatment, a fork of the baseline's with all that a fork can
change, a run of a real language model; and seasons: a short one, one with every event, one with
every code of a refusal, a fork, one with a real model among the workers. `python -m tests.golden`
adds missing ones. Those of mining under rules 1, in a folder of their own, were recorded before
rules 2: they are verified, resumed and forked as long as rules 1 are known.

Those of models cannot be made again byte for byte, for a model is asked only once: they show that
what was recorded then can be read for ever. Those of wordings can, for a program answers there:
they hold the prompts of the newest versions as they are, in a folder of their own.
`rm journals/golden/worded/* && python -m tests.golden` makes them anew.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.worlds.competition.arenas import opened_tests
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.check import SeasonCheck
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel import run
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.world import Batch, Block
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from tests import playing as season
from tests.kernel.worlds.competition.seasons import cast_of as cast_in
from tests.laws.seasons import Cast, Season, logical_act, world_of
from tests.llm import local
from tests.llm.seasons import playing
from tests.llm.servers import Asked, Reply, completion, serving
from tests.mining import fork, record
from tests.seasons import RICH, RICH_CAST
from tests.seasons import fork as fork_of_season

FOLDER = Path(__file__).resolve().parents[1] / "journals" / "golden"
SETTINGS = {"seed": 0, "rounds": 20}
RULES_1 = FOLDER / "rules-1"
SEASONS = FOLDER / "seasons"
WORDED = FOLDER / "worded"
FORKED = "forked"
MODELS = "language-models"

NAMES = {*TREATMENTS, FORKED, MODELS}

# Seasons: a short one as it comes; one in which thresholds are low, so that every reward, every
# consequence, every signal and every end of a contract comes about; one of people who do what they
# like, so that everything that can be refused is. Seeds are chosen for that.
SHORT, SEASON, ANYTHING = "short", "every-event", "every-code"
FORKED_SEASON, MODEL_SEASON = "forked", "language-model"
SEASON_NAMES = {SHORT, SEASON, ANYTHING, FORKED_SEASON, MODEL_SEASON}
SEASON_SETTINGS: dict[str, Mapping[str, Any]] = {
    SHORT: {"seed": 1, "assignments": 3, "arena": "mining[agents=5;rounds=20;seeds=2]"},
    SEASON: {**RICH, "seed": 3, "assignments": 20},
}
SEASON_CASTS: dict[str, Sequence[str]] = {SHORT: [], SEASON: RICH_CAST}
ANYTHING_SETTINGS = {
    "assignments": 24, "assignments_per_project": 1, "workers": 4, "moves": 1,
    "moves_expanded": 3, "worker_tiers": [1, 1, 1, 1], "admin_projects": 1,
    "assistant_stages": [1, 1, 1, 1], "judge_stages": [1, 1, 1], "therapist_stages": [1, 1, 1],
    "sparks_start": 4, "elimination_bottoms": 1, "memory": False, "trials": [2, 3],
    "arena": "nk[seeds=2;drift=0.5]",
}  # fmt: skip


def fork_baseline(out: Path, folder: Path = FOLDER) -> None:
    """The fork: other settings (more of the past is shown), other agents, a plan by hand."""
    fork(
        path_of("baseline", folder),
        10,
        out,
        settings={"authority": "punish", "detection": 0.5, "visibility": 8},
        roster="random*5,raid*5",
        replace=[{"round": 14, "agent": 3, "actions": [["raid", 20, 1], ["claim", 20, 1]]}],
    )


def record_models(out: Path) -> None:
    """Talkative models and scripted miners on a map that is too small for them."""
    asked = Model("smollm2", local.MODEL, temperature=0.7, max_tokens=220, seed=11)
    settings = {"seed": 0, "rounds": 6, "rows": 4, "cols": 4, "stamina": 5}
    with local.local_model() as address:
        known = {asked.name: (asked, Endpoint(base_url=address))}
        models = Models(by_name=known, concurrency=2)
        record(out, settings, "llm:smollm2*3,greedy-mine,raid", "communication", models=models)


def record_anything(out: Path, seed: int = 266) -> None:
    """A season whose cast, classes of somebody's own, does what random bytes say. What is tried and
    tested is so in earnest.
    """
    config = configured({**ANYTHING_SETTINGS, "seed": seed})
    draws = random.Random(seed).randbytes(9_000)
    # For a third of the time everybody does the sensible thing.
    drawn = Season(config, bytes(draw * (i // 30 % 3 != 0) for i, draw in enumerate(draws)))
    anybody = Cast(drawn.choices, drawn.oracle)
    agents = [{**agent, "policy": "anybody:Anybody"} for agent in cast_in(config.workers)]
    setup = {"config": config.as_dict(), "cast": agents}
    world = world_of(config)
    with (
        JournalWriter(out, Header(world.name, world.rules)) as journal,
        opened_tests(config.arena) as tests,
    ):
        again = SeasonCheck(world.initial(setup), tests)

        def ask(state: SeasonState) -> Sequence[Batch]:
            acts = again(state, Block([(code, [row]) for code, row in anybody.acts()]))
            anybody.season.step([logical_act(code, row) for code, rows in acts for row in rows])
            return acts

        run.last_of(run.steps(world, setup, journal, ask=ask))


def fork_season(out: Path) -> None:
    """The fork of a season: scored otherwise, one assignment longer, a contribution by hand."""
    conduct = ["raid", "mine", 1, "scarce"]  # of another subject
    said = {"move": "propose", "conduct": conduct, "claim": [0.9, None], "words": "by hand"}
    fork_of_season(
        season_path(SHORT),
        0,
        out,
        settings={"scoring": "absolute", "assignments": 4},
        replace=[{"assignment": 2, "table": 0, "round": 0, "agent": 6, **said}],
    )


def record_model_season(out: Path) -> None:
    """A small model among scripted workers."""
    asked = Model("smollm2", local.MODEL, temperature=0.7, max_tokens=400, seed=11)
    with local.local_model() as address:
        models = Models(by_name={asked.name: (asked, Endpoint(base_url=address))})
        cast = cast_of(6, ["ada=llm:smollm2"], models)
        settings = {"seed": 1, "assignments": 1, "arena": "nk"}
        season.record(out, settings, cast, models=models)


# With names and variants of one's own; texts of others, notes, orders and reasons are shown.
_MINING = """
[messages]
question = ["Round $round: what now?", "It is round $round. Your plan, as JSON:"]
none = ["none", "nobody"]
[names]
agents = "letters"
plots = "row,col"
[names.kinds]
raid = "take"
[names.keys]
actions = "moves"
"""
_SEASON = """
[messages]
situation = ["Assignment $assignment of 0 to $last.", "Now: assignment $assignment (of $last)."]
"""


def _mining(asked: Asked) -> Reply:
    """What the program says that plays a worded miner: now and then it is no plan."""
    drawn = sha256(asked.text.encode()).digest()
    kinds = ("claim", "mine", "take", "defend")
    moves = [
        {"type": kinds[at % 4], "plot": f"{at // 4 % 4},{at // 16 % 4}", "stamina": 1 + at // 64}
        for at in drawn[:3]
    ]
    said = {"moves": moves, "say": f"I look at {moves[0]['plot']}.", "note": f"{drawn[4]}"}
    text = "Let me see." if drawn[3] % 8 == 0 else json.dumps(said)
    return completion(f"I think.</think>{text}", usage=(len(asked.text), len(text)))


def record_worded(out: Path) -> None:
    """Models and a policy that talk, of a version of the prompt that can be worded."""
    _record_answered(
        out, _MINING, _mining, record, {"seed": 3, "rounds": 8, "rows": 4, "cols": 4},
        "llm:m[order=agent;wording={own}]*2,llm:thinks[wording={own}],raid,greedy-mine",
        "communication",
    )  # fmt: skip


def record_worded_season(out: Path) -> None:
    """Two models among scripted agents, one with a place for its reasons."""

    def play(out: Path, settings: Mapping[str, Any], cast: str, models: Models) -> object:
        return season.record(out, settings, cast_of(4, cast.split(","), models), models=models)

    settings = {"seed": 1, "assignments": 2, "workers": 4, "arena": "nk[seeds=1]"}
    cast = "ada=llm:thinks[wording={own}],judge=llm:m[wording={own}]"
    _record_answered(out, _SEASON, playing, play, settings, cast)


def _record_answered(
    out: Path, wording: str, respond: Callable[[Asked], Reply], play: Callable[..., object],
    settings: Mapping[str, Any], roster: str, *more: object,
) -> None:  # fmt: skip
    with TemporaryDirectory() as folder, serving(respond) as server:
        own = Path(folder, "own.toml")
        own.write_text(wording)
        reach = Endpoint(base_url=server.address)
        m = Model("m", "test-1", answer="text", temperature=0.7)
        thinks = Model(
            "thinks", "test-1", answer="text", reasoning="field", persona="You are kind."
        )
        by_name = {each.name: (each, reach) for each in (m, thinks)}
        # Asked one after the other, so that each answer is a commit of its own.
        models = Models(by_name=by_name, concurrency=1)
        play(out, settings, roster.format(own=own), *more, models=models)


def path_of(name: str, folder: Path = FOLDER) -> Path:
    """Where the golden journal of that name is kept."""
    return folder / f"{name}.journal"


def season_path(name: str) -> Path:
    """Where the golden season of that name is kept."""
    return SEASONS / f"{name}.journal"


def write_missing() -> None:
    """Record the golden journals that do not exist; never overwrite one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for treatment in TREATMENTS:
        if not path_of(treatment).exists():
            record(path_of(treatment), SETTINGS, None, treatment)
    if not path_of(FORKED).exists():
        fork_baseline(path_of(FORKED))
    if not path_of(MODELS).exists():
        record_models(path_of(MODELS))
    SEASONS.mkdir(exist_ok=True)
    for name, settings in SEASON_SETTINGS.items():
        if not season_path(name).exists():
            season.record(season_path(name), settings, cast_of(6, SEASON_CASTS[name]))
    if not season_path(ANYTHING).exists():
        record_anything(season_path(ANYTHING))
    if not season_path(FORKED_SEASON).exists():
        fork_season(season_path(FORKED_SEASON))
    if not season_path(MODEL_SEASON).exists():
        record_model_season(season_path(MODEL_SEASON))
    WORDED.mkdir(exist_ok=True)
    for name, record_one in WORDED_NAMES.items():
        if not path_of(name, WORDED).exists():
            record_one(path_of(name, WORDED))


WORDED_NAMES = {"mining": record_worded, "season": record_worded_season}


if __name__ == "__main__":
    write_missing()
