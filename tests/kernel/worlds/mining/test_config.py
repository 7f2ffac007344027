"""The configuration (kernel/worlds/mining/README.md 2): every default, every range, every
refusal.
"""

import math
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of

DEFAULTS = {
    "seed": 0,
    "rounds": 200,
    "rows": 10,
    "cols": 10,
    "agents": 10,
    "stamina": 10,
    "stamina_by_agent": None,
    "mining_cap": 3,
    "alpha": 1.0,
    "alpha_by_plot": None,
    "truce": 1,
    "defense": "absolute",
    "visibility": 5,
    "communication": False,
    "authority": "none",
    "detection": 1.0,
    "fine": 3.0,
}
SMALL = {"rows": 1, "cols": 2, "agents": 3}

WHOLE = [
    ("seed", 0, 2**53 - 1),
    ("rounds", 1, 1_000_000),
    ("rows", 1, 100_000),  # with the 10 columns of the default that is the largest grid
    ("cols", 1, 100_000),
    ("agents", 1, 100_000),
    ("stamina", 0, 1_000),
    ("mining_cap", 1, 1_000),
    ("truce", 0, 1_000_000),
]
REAL = [("alpha", 0, 10**9), ("detection", 0, 1), ("fine", 0, 10**9)]


def refusal(**settings: Any) -> BadInput:
    with pytest.raises(BadInput) as refused:
        config_of(settings)
    assert refused.value.instead
    return refused.value


def test_the_defaults_are_those_of_the_rules_in_their_order() -> None:
    assert list(DEFAULTS.items()) == list(config_of({}).as_dict().items())


@pytest.mark.parametrize(("name", "low", "high"), WHOLE)
def test_a_whole_number_is_an_integer_in_its_range(name: str, low: int, high: int) -> None:
    largest = 1_000_000 if name in ("rows", "cols") else high
    for value in (low, high):
        assert value == config_of({name: value}).as_dict()[name]
    for wrong in (low - 1, largest + 1, 2**70, 1.0, True, "1", None, math.nan):
        assert refusal(**{name: wrong}).what.startswith(f"{name} is {wrong!r}")


@pytest.mark.parametrize(("name", "low", "high"), REAL)
def test_a_real_number_is_a_number_in_its_range(name: str, low: int, high: int) -> None:
    for value in (low, high, high / 3, 5e-324):
        taken = config_of({name: value}).as_dict()[name]

        assert (float, float(value)) == (type(taken), taken)
    for wrong in (-5e-324, -1, math.nextafter(high, math.inf), math.inf, math.nan, True, "1.0"):
        assert refusal(**{name: wrong}).what.startswith(f"{name} is {wrong!r}")


def test_minus_zero_is_zero() -> None:
    config = config_of(
        SMALL | {"alpha": -0.0, "detection": -0.0, "fine": -0.0, "alpha_by_plot": [-0.0, 1.0]}
    )

    for zero in (config.alpha, config.detection, config.fine, config.alphas[0]):
        assert "0.0" == repr(zero)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("defense", ["absolute", "pointwise"], ["", "ABSOLUTE", None, ["absolute"]]),
        ("authority", ["none", "adjudicate", "punish"], ["fine", None, 0]),
        ("visibility", [1, 2**53 - 1, "all"], [0, 2**53, "ALL", "5", None, True, 1.0]),
        ("communication", [True, False], [0, 1, "true", None]),
    ],
)
def test_a_choice_is_one_of_its_values(name: str, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        assert value == config_of({name: value}).as_dict()[name]
    for value in wrong:
        assert refusal(**{name: value}).what.startswith(f"{name} is {value!r}")


# Lists.


def test_a_list_replaces_the_value_of_all() -> None:
    config = config_of(
        SMALL | {"stamina": 7, "stamina_by_agent": [0, 1_000, 3], "alpha_by_plot": [0, 1e9]}
    )

    assert ((0, 1_000, 3), (0.0, 1e9)) == (config.staminas, config.alphas)
    assert [float, float] == [type(alpha) for alpha in config.alpha_by_plot or ()]
    others = config_of(SMALL | {"stamina": 7, "alpha": 7})
    assert ((7, 7, 7), (7.0, 7.0)) == (others.staminas, others.alphas)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("stamina_by_agent", [[], [1] * 2, [1] * 4, [1, -1, 1], [1, 1_001, 1], [1, True, 1], 3]),
        ("alpha_by_plot", [[], [1.0], [1.0] * 3, [1.0, -1.0], [1.0, math.nan], [1.0, None], "33"]),
    ],
)
def test_a_list_has_an_item_in_range_for_each_agent_or_plot(name: str, wrong: list[Any]) -> None:
    for value in wrong:
        assert refusal(**SMALL, **{name: value}).what.startswith(name)


# The grid, and names.


def test_a_grid_has_up_to_a_million_plots() -> None:
    assert 1_000_000 == config_of({"rows": 1_000, "cols": 1_000}).plots
    for rows, cols in ((1_001, 1_000), (1_000_000, 2)):
        refusal(rows=rows, cols=cols)


def test_a_name_that_nobody_knows_is_refused_with_the_one_meant() -> None:
    assert "stamina" in refusal(stamna=3).instead
    assert all(name in refusal(zzz=3).instead for name in DEFAULTS)


# The setup of a journal: configuration and roster, whole.


def setup() -> dict[str, Any]:
    """A sound one, for three agents on two plots."""
    roster = [{"agent": agent, "policy": "mine", "options": {}} for agent in range(3)]
    return {"config": config_of(SMALL).as_dict(), "roster": roster}


@pytest.mark.parametrize(
    "changed",
    [
        {"agent": 0}, {"agent": True}, {"policy": 1}, {"policy": "x" * 201}, {"options": None},
        {"options": {"a": {}}}, {"options": {1: "a"}}, {"more": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_a_roster_has_a_whole_entry_for_each_agent(changed: dict[str, Any]) -> None:
    whole = setup()
    entries = whole["roster"]
    reordered = dict(reversed(entries[1].items()))
    wrong = [[entries[0], entry, entries[2]] for entry in (entries[1] | changed, reordered)]
    for roster in (entries[:2], entries * 2, *wrong):
        with pytest.raises(BadInput):
            MINING.initial(whole | {"roster": roster})


@pytest.mark.parametrize(
    ("settings", "pressure"),
    [
        ({}, 0.4),
        ({"rows": 5, "cols": 6}, 40 / 30),
        (SMALL | {"stamina_by_agent": [1, 3, 4]}, 2.0),
    ],
)
def test_pressure_is_the_plots_that_agents_could_use_over_those_there_are(
    settings: dict[str, Any], pressure: float
) -> None:
    assert pressure == config_of(settings).pressure


@pytest.mark.parametrize("part", [4, 5, 6], ids=["gold", "spent", "memo"])
def test_a_frozen_state_with_another_number_of_agents_is_refused(part: int) -> None:
    frozen = [*MINING.freeze(MINING.initial(setup()))]
    frozen[part] = frozen[part][:-1]

    with pytest.raises(ValueError, match="another number of agents"):
        MINING.thaw(tuple(frozen), lambda first: ())


def test_a_setup_is_a_whole_configuration_and_a_roster_in_this_order() -> None:
    whole = setup()
    config = whole["config"]
    short = {name: value for name, value in config.items() if name != "fine"}
    assert (0, [None, None], [0.0] * 3) == (
        (state := MINING.initial(whole)).round, state.owner, state.gold,
    )  # fmt: skip

    for wrong in (
        {}, {"config": config}, dict(reversed(whole.items())), whole | {"note": 1},
        whole | {"config": short}, whole | {"config": dict(reversed(config.items()))},
        whole | {"config": config | {"alpha": 1}},
    ):  # fmt: skip
        with pytest.raises(BadInput):
            MINING.initial(wrong)
