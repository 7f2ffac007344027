"""`goldrush conform`: the laws that all worlds keep, tested on a run."""

from __future__ import annotations

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import argument, command
from goldrush.cli.options import Json, Settings, allow_own_policies, roster_option
from goldrush.cli.record import settings_of
from goldrush.cli.text import echo
from goldrush.kernel.text import escaped


@command()
def conform(
    *,
    world: str = argument(),
    settings: Settings,
    roster: str | None = roster_option("Policies, as for record."),
    as_json: Json,
) -> int:
    """Test a world against the laws that all worlds keep.

    Records a run, then derives its events and states again many times: keep it short with --set. In
    pytest, the same laws are goldrush.testing.WorldLaws. Exit code: 1 if a law is broken.

    \b
    Examples:
      goldrush conform mining --set rounds=3 --set agents=4
      goldrush conform mining --set rounds=3 --roster 'raid*4' --json
    """
    from goldrush.replay.find import players_of, tools_for
    from goldrush.testing import LAWS, broken, trial

    if roster is not None:
        allow_own_policies([], players_of(tools_for(world)).policy_set.names_in(roster))
    with trial(world, settings_of(settings, {}), roster) as run:
        found = {name: broken(law, run) for name, law in LAWS.items()}
    echo(
        as_json,
        lambda: [{"law": name, "broken": fault} for name, fault in found.items()],
        lambda: "\n".join(
            f"{name}: {'holds' if fault is None else f'BREAKS: {escaped(fault)}'}"
            for name, fault in found.items()
        ),
    )
    return DIFFERS if any(found.values()) else DONE
