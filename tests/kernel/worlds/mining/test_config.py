"""The configuration (kernel/worlds/mining/README.md 2): every default, every range, every
refusal.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from tests.mining import record

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
    return refused.value


def test_the_defaults_are_those_of_the_rules_in_their_order() -> None:
    assert list(DEFAULTS.items()) == list(config_of({}).as_dict().items())


def test_reals_are_reals_in_the_defaults_too() -> None:
    config = config_of({})

    assert [float] * 3 == [type(value) for value in (config.alpha, config.detection, config.fine)]


@pytest.mark.parametrize(("name", "low", "high"), WHOLE)
def test_a_whole_number_is_taken_from_one_end_of_its_range_to_the_other(
    name: str, low: int, high: int
) -> None:
    for value in (low, high):
        assert value == config_of({name: value}).as_dict()[name]


@pytest.mark.parametrize(("name", "low", "high"), WHOLE)
def test_a_whole_number_out_of_its_range_is_refused_with_field_value_and_range(
    name: str, low: int, high: int
) -> None:
    largest = 1_000_000 if name in ("rows", "cols") else high
    for value in (low - 1, largest + 1, -(2**70), 2**70):
        error = refusal(**{name: value})

        assert error.what.startswith(f"{name} is {value}")
        assert f"a whole number from {low} to {largest}" in error.instead


@pytest.mark.parametrize("name", [name for name, _, _ in WHOLE])
@pytest.mark.parametrize("value", [1.0, True, "1", None, [1], math.nan])
def test_a_whole_number_is_an_integer_and_nothing_like_it(name: str, value: object) -> None:
    assert refusal(**{name: value}).what == f"{name} is {value!r}"


@pytest.mark.parametrize(("name", "low", "high"), REAL)
def test_a_real_number_is_taken_from_one_end_of_its_range_to_the_other(
    name: str, low: int, high: int
) -> None:
    for value in (low, high, float(low), float(high), high / 3, 5e-324):
        taken = config_of({name: value}).as_dict()[name]

        assert (float, float(value)) == (type(taken), taken)


def test_minus_zero_is_zero() -> None:
    config = config_of(
        SMALL | {"alpha": -0.0, "detection": -0.0, "fine": -0.0, "alpha_by_plot": [-0.0, 1.0]}
    )

    for zero in (config.alpha, config.detection, config.fine, config.alphas[0]):
        assert "0.0" == repr(zero)


@pytest.mark.parametrize(("name", "low", "high"), REAL)
def test_a_real_number_out_of_its_range_is_refused_with_field_value_and_range(
    name: str, low: int, high: int
) -> None:
    for value in (
        -5e-324,
        -1,
        math.nextafter(high, math.inf),
        math.inf,
        -math.inf,
        math.nan,
        2**70,
    ):
        error = refusal(**{name: value})

        assert error.what == f"{name} is {value!r}"
        assert f"a number from {low:g} to {high:g}" in error.instead


@pytest.mark.parametrize("name", [name for name, _, _ in REAL])
@pytest.mark.parametrize("value", [True, "1.0", None, [1.0], 1j])
def test_a_real_number_is_a_number_and_nothing_like_it(name: str, value: object) -> None:
    assert refusal(**{name: value}).what == f"{name} is {value!r}"


@pytest.mark.parametrize(
    ("name", "choices"),
    [("defense", ["absolute", "pointwise"]), ("authority", ["none", "adjudicate", "punish"])],
)
def test_a_choice_is_one_of_its_names(name: str, choices: list[str]) -> None:
    for choice in choices:
        assert choice == config_of({name: choice}).as_dict()[name]
    for wrong in ("", choices[0].upper(), None, 0, True, [choices[0]]):
        error = refusal(**{name: wrong})

        assert error.what == f"{name} is {wrong!r}"
        assert all(choice in error.instead for choice in choices)


@pytest.mark.parametrize("value", [1, 2, 1_000_000, 2**53 - 1, "all"])
def test_visibility_is_one_round_or_more_or_all(value: object) -> None:
    assert value == config_of({"visibility": value}).visibility


@pytest.mark.parametrize("value", [0, -1, 2**53, "ALL", "5", None, True, 1.0])
def test_any_other_visibility_is_refused(value: object) -> None:
    error = refusal(visibility=value)

    assert error.what == f"visibility is {value!r}"
    assert '"all"' in error.instead


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_communication_is_true_or_false(value: object) -> None:
    assert refusal(communication=value).what == f"communication is {value!r}"


# Lists.


def test_staminas_by_agent_replace_the_stamina_of_all() -> None:
    config = config_of(SMALL | {"stamina": 7, "stamina_by_agent": [0, 1_000, 3]})

    assert (0, 1_000, 3) == config.staminas


def test_without_a_list_every_agent_has_the_same_stamina() -> None:
    assert (7, 7, 7) == config_of(SMALL | {"stamina": 7}).staminas


def test_alphas_by_plot_replace_the_alpha_of_all() -> None:
    config = config_of(SMALL | {"alpha": 7, "alpha_by_plot": [0, 1e9]})

    assert (0.0, 1e9) == config.alphas


def test_without_a_list_every_plot_has_the_same_alpha() -> None:
    assert (7.0, 7.0) == config_of(SMALL | {"alpha": 7}).alphas


def test_whole_numbers_are_taken_for_reals_in_a_list() -> None:
    alphas = config_of(SMALL | {"alpha_by_plot": [1, 2]}).alpha_by_plot

    assert [(float, 1.0), (float, 2.0)] == [(type(alpha), alpha) for alpha in alphas or ()]


@pytest.mark.parametrize(
    ("name", "length"), [("stamina_by_agent", 3), ("alpha_by_plot", 2)], ids=str
)
def test_a_list_of_the_wrong_length_is_refused_with_both_lengths(name: str, length: int) -> None:
    for wrong in (0, length - 1, length + 1):
        error = refusal(**SMALL, **{name: [1] * wrong})

        items = "item" if wrong == 1 else "items"
        assert (f"{name} has {wrong} {items}", f"it must have {length}") == (
            error.what,
            error.instead,
        )


@pytest.mark.parametrize("item", [-1, 1_001, 1.0, True, None, "1"])
def test_a_stamina_in_the_list_is_held_to_the_range_of_staminas(item: object) -> None:
    error = refusal(**SMALL, stamina_by_agent=[1, item, 1])

    assert error.what.startswith("stamina_by_agent is ")
    assert "a whole number from 0 to 1000" in error.instead


@pytest.mark.parametrize("item", [-1.0, 1e9 + 1, math.nan, math.inf, True, None, "1"])
def test_an_alpha_in_the_list_is_held_to_the_range_of_alphas(item: object) -> None:
    error = refusal(**SMALL, alpha_by_plot=[1.0, item])

    assert error.what.startswith("alpha_by_plot is ")
    assert "a number from 0 to 1e+09" in error.instead


@pytest.mark.parametrize("name", ["stamina_by_agent", "alpha_by_plot"])
@pytest.mark.parametrize("value", [3, "333", {1: 1, 2: 2, 3: 3}, False])
def test_a_list_is_a_list(name: str, value: object) -> None:
    assert refusal(**SMALL, **{name: value}).what == f"{name} is {value!r}"


# The grid, names, and what becomes of it all.


@pytest.mark.parametrize(("rows", "cols"), [(1_000_000, 1), (1, 1_000_000), (1_000, 1_000)])
def test_a_grid_has_up_to_a_million_plots(rows: int, cols: int) -> None:
    assert 1_000_000 == config_of({"rows": rows, "cols": cols}).plots


@pytest.mark.parametrize(("rows", "cols"), [(1_001, 1_000), (1_000_000, 2)])
def test_a_larger_grid_is_refused_with_its_size(rows: int, cols: int) -> None:
    error = refusal(rows=rows, cols=cols)

    assert f"{rows} x {cols} = {rows * cols}" in error.what
    assert "1000000 plots" in error.instead


def test_a_name_that_nobody_knows_is_refused_with_the_one_meant() -> None:
    error = refusal(stamna=3)

    assert "there is no setting 'stamna'" == error.what
    assert error.instead.startswith("did you mean stamina? take one of seed, ")


def test_a_name_like_no_other_is_refused_with_all_there_are() -> None:
    error = refusal(zzz=3)

    assert all(name in error.instead for name in DEFAULTS)


def test_a_refused_configuration_leaves_no_file_behind(tmp_path: Path) -> None:
    for settings in ({"stamina": -1}, {"nothing": 1}, {"alpha_by_plot": [1.0]}):
        with pytest.raises(BadInput):
            record(tmp_path / "run.journal", settings)

    assert [] == list(tmp_path.iterdir())


def test_a_configuration_read_from_a_journal_is_the_one_that_was_written() -> None:
    config = config_of(
        SMALL | {"alpha_by_plot": [0.1, 2], "stamina_by_agent": [1, 2, 3], "visibility": "all"}
    )

    assert config == config_of(unpack(pack(config.as_dict())))


# The setup of a journal: configuration and roster, whole.


def setup() -> dict[str, Any]:
    """A sound one, for three agents on two plots."""
    roster = [{"agent": agent, "policy": "mine", "options": {}} for agent in range(3)]
    return {"config": config_of(SMALL).as_dict(), "roster": roster}


def setup_refusal(wrong: dict[str, Any]) -> BadInput:
    with pytest.raises(BadInput) as refused:
        MINING.initial(wrong)
    return refused.value


def test_a_whole_setup_is_taken() -> None:
    state = MINING.initial(setup())

    assert (0, [None, None], [0.0] * 3) == (state.round, state.owner, state.gold)


@pytest.mark.parametrize("keys", [["config"], ["roster"], ["roster", "config"], []])
def test_a_setup_is_configuration_and_roster_in_this_order(keys: list[str]) -> None:
    whole = setup()

    assert "it has config and roster" == setup_refusal({key: whole[key] for key in keys}).instead


def test_a_setup_holds_nothing_else() -> None:
    assert "it has config and roster" == setup_refusal(setup() | {"note": 1}).instead


def test_a_setup_without_all_settings_is_refused() -> None:
    for name in DEFAULTS:
        wrong = setup()
        del wrong["config"][name]

        setup_refusal(wrong)


def test_a_setup_with_settings_in_another_order_is_refused() -> None:
    wrong = setup()
    wrong["config"] = dict(reversed(wrong["config"].items()))

    assert "the configuration is incomplete" == setup_refusal(wrong).what


def test_a_setup_with_a_whole_number_for_a_real_is_refused() -> None:
    wrong = setup()
    wrong["config"]["alpha"] = 1

    assert "the configuration is incomplete" == setup_refusal(wrong).what


@pytest.mark.parametrize("agents", [0, 2, 4])
def test_a_setup_with_another_number_of_agents_is_refused(agents: int) -> None:
    wrong = setup()
    wrong["roster"] = (wrong["roster"] * 2)[:agents]

    error = setup_refusal(wrong)

    assert (f"the roster has {agents} agents", "it must have 3") == (error.what, error.instead)


@pytest.mark.parametrize(
    "entry",
    [
        {"agent": 0, "policy": "mine", "options": {}},
        {"agent": 1.0, "policy": "mine", "options": {}},
        {"agent": True, "policy": "mine", "options": {}},
        {"agent": 1, "policy": 1, "options": {}},
        {"agent": 1, "policy": "mine", "options": None},
        {"agent": 1, "policy": "mine", "options": {"a": {}}},
        {"agent": 1, "policy": "mine", "options": {1: "a"}},
        {"agent": 1, "policy": "mine"},
        {"policy": "mine", "agent": 1, "options": {}},
        {"agent": 1, "policy": "mine", "options": {}, "more": 1},
    ],
    ids=repr,
)
def test_an_entry_of_the_roster_that_is_none_is_refused_by_its_place(entry: object) -> None:
    wrong = setup()
    wrong["roster"][1] = entry

    assert setup_refusal(wrong).what.startswith("entry 1 of the roster is ")


@pytest.mark.parametrize(
    ("settings", "pressure"),
    [
        ({}, 0.4),
        ({"rows": 5, "cols": 6}, 40 / 30),
        ({"mining_cap": 10}, 0.1),
        ({"stamina": 0}, 0.0),
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
