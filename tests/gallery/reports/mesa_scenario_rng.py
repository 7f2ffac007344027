"""Mesa: the `rng` that a subclass of Scenario declares is ignored, so its model is unseeded."""

import warnings

from mesa.examples.advanced.epstein_civil_violence.model import (
    EpsteinCivilViolence,
    EpsteinScenario,
)

warnings.simplefilter("ignore")
print("declared:", EpsteinScenario.__dict__["rng"], " used:", EpsteinScenario().rng)
for run in (1, 2):
    print(f"citizens that are quiet in run {run}:", EpsteinCivilViolence().QUIET)
