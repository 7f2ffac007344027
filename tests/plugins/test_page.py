"""The page on plugins: the package that it shows is written down as it stands there, installed, and
put through the commands that stand there.
"""

import re
import shlex
from pathlib import Path

from tests.cli.helpers import ROOT, goldrush
from tests.plugins.installed import dist_info

PAGE = (ROOT / "goldrush" / "PLUGINS.md").read_text()
FILES = dict(re.findall(r"`([\w/]+\.(?:py|toml))`[^\n]*:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = "".join(re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL))
POINTS = {
    group: dict(re.findall(r'^"?([\w/]+)"? = "(.*)"$', points, re.M))
    for group, points in re.findall(
        r'\[project\.entry-points\."(.*)"\]\n((?:.+\n)+)', FILES["pyproject.toml"]
    )
}


def test_the_package_of_the_page_goes_through_the_commands_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "harbour").mkdir()
    for name, text in {**FILES, "harbour/__init__.py": ""}.items():
        (tmp_path / name).write_text(text)
    dist_info(tmp_path, POINTS, "harbour", "0.1")
    told = {}
    for line in COMMANDS.splitlines():
        program, command, *rest = shlex.split(line)
        ran = goldrush(command, *rest, cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}")
        told[command] = ran.out

        assert "goldrush" == program
        assert (int(command == "diff"), "") == (ran.code, ran.err), line

    assert "holds at levels 1 to 4" in told["verify"]
    assert "stock, tonnes" in told["measure"]
    assert "125\n" == told["quota"]
    assert "greedy[part=0.3] in A, share in B" in told["diff"]
    assert "homebody[plots=2]" in told["record"]
    assert 3 == told["plugins"].count("harbour 0.1")
    assert {"holds"} == {line.split(": ")[1] for line in told["conform"].splitlines()}
