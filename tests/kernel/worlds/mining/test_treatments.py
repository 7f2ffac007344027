"""Treatments (kernel/worlds/mining/README.md 12): one factor each; what is set by hand goes
first.
"""

from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.treatments import treatment_named
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from tests.mining import prepare
from tests.season_oracle import shuffled

RICH = 100 // 5

# What each treatment changes of the default, as the rules list it; None where tests of its own
# say more.
CHANGES: dict[str, dict[str, Any] | None] = {
    "baseline": {},
    "truce-0": {"truce": 0},
    "defense-pointwise": {"defense": "pointwise"},
    "stamina-8": {"stamina": 8},
    "stamina-12": {"stamina": 12},
    "cap-2": {"mining_cap": 2},
    "cap-4": {"mining_cap": 4},
    "agents-20": {"agents": 20},
    "history-1": {"visibility": 1},
    "history-all": {"visibility": "all"},
    "alpha-rich": None,
    "stamina-mixed": {"stamina_by_agent": (6, 8, 10, 12, 14, 6, 8, 10, 12, 14)},
    "communication": {"communication": True},
    "authority-adjudicate": {"authority": "adjudicate"},
    "authority-punish": {"authority": "punish"},
    "scarce": {"rows": 5, "cols": 6},
    "scarce-20": {"rows": 5, "cols": 6, "agents": 20},
}


def changed(name: str, **settings: Any) -> dict[str, Any]:
    """What differs from the default in a run under a treatment."""
    config, _ = prepare(settings, treatment=name)
    default = config_of({}).as_dict()
    return {key: value for key, value in config.as_dict().items() if value != default[key]}


def test_the_treatments_are_those_of_the_rules() -> None:
    assert list(CHANGES) == list(TREATMENTS)


@pytest.mark.parametrize("name", [name for name, changes in CHANGES.items() if changes is not None])
def test_a_treatment_changes_what_it_says_and_nothing_else(name: str) -> None:
    assert changed(name) == CHANGES[name]


def test_a_name_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BadInput):
        treatment_named(TREATMENTS, "truce-9")


@pytest.mark.parametrize("seed", [0, 2**53 - 1])
def test_alpha_rich_doubles_a_fifth_of_the_plots_drawn_by_its_key(seed: int) -> None:
    order, _ = shuffled([seed, 0, 0, "alpha"], range(100))
    rich = set(order[:RICH])
    alphas = tuple(2.0 if plot in rich else 1.0 for plot in range(100))

    changes = changed("alpha-rich", seed=seed)

    assert alphas == changes.pop("alpha_by_plot")
    assert changes == ({"seed": seed} if seed else {})


@pytest.mark.parametrize(("rows", "cols", "rich"), [(2, 2, 0), (3, 3, 1)])
def test_alpha_rich_rounds_the_fifth_down(rows: int, cols: int, rich: int) -> None:
    alphas = changed("alpha-rich", rows=rows, cols=cols)["alpha_by_plot"]

    assert (rows * cols, rich) == (len(alphas), alphas.count(2.0))


def test_stamina_mixed_goes_by_agent_however_many_there_are() -> None:
    assert (6, 8, 10, 12, 14, 6, 8) == changed("stamina-mixed", agents=7)["stamina_by_agent"]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("truce-0", {"truce": 2}),
        ("agents-20", {"agents": 4}),
        ("alpha-rich", {"alpha_by_plot": [3.0] * 100}),
        ("stamina-mixed", {"stamina_by_agent": [1] * 10}),
    ],
)
def test_what_is_set_by_hand_goes_before_the_treatment(name: str, settings: dict[str, Any]) -> None:
    config, _ = prepare(settings, treatment=name)

    assert settings == {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in config.as_dict().items()
        if key in settings
    }
