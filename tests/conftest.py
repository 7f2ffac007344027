"""How hard the laws are tried: `HYPOTHESIS_PROFILE=thorough python -m pytest tests/laws`.

`ci`, the default, tries the same examples every time, so that a red test is a changed program and
never bad luck. `thorough` tries new ones for an hour: a million hostile plans against the oracle of
the mining world, a hundred thousand and more against each of its laws.
"""

import os

from hypothesis import HealthCheck, settings

# Whole games are large examples, and drawing one takes longer than Hypothesis likes.
LARGE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=LARGE,
)
settings.register_profile(
    "thorough", deadline=None, max_examples=20_000, suppress_health_check=LARGE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
