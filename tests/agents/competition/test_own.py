"""Policies of somebody's own that do what nobody expects of a class."""

from pathlib import Path

import pytest

from goldrush.agents.competition.cast import cast_of, check_playable
from goldrush.kernel.errors import BadInput


def test_a_module_that_leaves_python_while_it_is_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "season_leaver.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    cast = [{**entry, "policy": "season_leaver:Own"} for entry in cast_of(2)]

    with pytest.raises(BadInput, match="season_leaver:Own cannot be made: SystemExit: 3"):
        check_playable(cast, ["season_leaver:Own"])
