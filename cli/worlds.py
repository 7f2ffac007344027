"""Which world is meant where a command is told none."""

from __future__ import annotations

from typing import Final

import click

DEFAULT: Final = "mining"

world_option = click.option("--world", default=DEFAULT, show_default=True, help="The world.")
