"""Commands typed at forged journals, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

import click

from goldrush.cli.main import cli
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.text import escaped


def typed(words: Sequence[str]) -> Iterator[str]:
    """What is wrong with a command: it may refuse, but not in Python's words, nor move the
    cursor.
    """
    out = TextIOWrapper(BytesIO(), "utf-8", write_through=True)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            cli.main(list(words), standalone_mode=False)
    except (GoldrushError, click.ClickException):
        pass
    except Exception as error:
        yield f"{' '.join([words[0], *words[2:]])}: {type(error).__name__}: {str(error)[:100]}"
    out.seek(0)
    if escaped(printed := out.read(), "\n\t") != printed:
        yield f"{words[0]} prints what moves the cursor"
