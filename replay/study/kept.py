"""Cache of the measures of a study's runs, one file per cell.

The files are in the user's cache folder (see replay/cache.py) and can be deleted at any time. Their
key covers all that the measures depend on: each journal's SHA-256 (every report hashes the journals
again), the settings and the roster in the manifest, and goldrush's source code. A changed journal
or measure is therefore a cache miss. Without a cache, a report takes longer and says the same.

    file = magic, values, checksum of key, magic and values

`values` is a msgpack array of the runs in the manifest's order. A file that is damaged or has
another key is ignored. The checksum is not a signature: anyone who can write to the cache folder
(by default only the user) can change the figures of a report.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
from xxhash import xxh3_128, xxh3_128_digest, xxh3_128_hexdigest

from goldrush.agents.llm.failures import Failures
from goldrush.kernel.codec import Undecodable, pack, unpack
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.replay import cache as folder
from goldrush.replay.study.records import Listed
from goldrush.replay.study.results import Studied

if TYPE_CHECKING:
    from goldrush.replay.study.records import Result

_MAGIC: Final = b"goldmea1"
_CHECKSUM: Final = 16  # bytes
_ROOMS: Final = ("kernel", "agents", "replay")  # the code that measures depend on

trim = folder.trim


def read(of: Studied, roster: str | None, runs: Sequence[Listed]) -> list[Result[Any, Any]] | None:
    """The cached results of a cell's runs; None on a miss.

    Args:
        of: the study's world.
        roster: the text of the cell's roster in the plan; None: the default one.
        runs: the cell's runs.

    """
    key = _key(of, roster, runs)
    file = None if key is None else folder.opened(xxh3_128_hexdigest(key), folder.MEASURES)
    if file is None or key is None:
        return None
    with file:
        data = file.read()
    if not data.startswith(_MAGIC) or xxh3_128_digest(key + data[:-_CHECKSUM]) != data[-_CHECKSUM:]:
        return None
    try:
        values = unpack(data[len(_MAGIC) : -_CHECKSUM])
        return [_result(of, run, one) for run, one in zip(runs, values, strict=True)]
    except (Undecodable, ValueError, TypeError):
        return None


def write(
    of: Studied, roster: str | None, runs: Sequence[Listed], results: Sequence[Result[Any, Any]]
) -> None:
    """Cache the results of a cell's runs; a no-op if the cache folder cannot be used.

    Args:
        of: the study's world.
        roster: the text of the cell's roster in the plan; None: the default one.
        runs: the cell's runs.
        results: their results, in the same order.

    """
    key = _key(of, roster, runs)
    if key is None:
        return
    with suppress(BadInput, JournalError):  # a full disk, another process at the same file
        file = folder.unfinished(xxh3_128_hexdigest(key), folder.MEASURES)
        if file is None:
            return
        data = _MAGIC + pack([_values(of, result) for result in results])
        with file:
            folder.append(file, data + xxh3_128_digest(key + data))
            file.publish(sync=False)


def _key(of: Studied, roster: str | None, runs: Sequence[Listed]) -> bytes | None:
    """All that the measures of a cell depend on; None if that includes code of other packages."""
    if not all(of.studies.kept.lasts(run.config) for run in runs):
        return None
    listed = [(run.sha256, run.config.as_dict()) for run in runs]
    return pack((_code(), of.name, attrs.astuple(runs[0].cell), roster, listed))


@cache
def _code() -> tuple[str, str]:
    """The version of goldrush, and a hash of its source code, which may have been edited."""
    from importlib.metadata import version

    package = Path(__file__).parents[2]
    hashed = xxh3_128()
    for room in _ROOMS:
        for where, folders, names in os.walk(package / room, followlinks=True):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".py"):
                    source = Path(where, name).read_bytes()
                    hashed.update(pack((os.path.relpath(where, package), name, source)))
    return version("goldrush"), hashed.hexdigest()


def _values(of: Studied, one: Result[Any, Any]) -> Any:
    """A result as plain values, without the fields that are in the manifest."""
    failures = [attrs.astuple(found, recurse=False) for found in one.failures]
    figures = (one.run, one.halves, one.halves_whole, one.curves)
    return one.units, figures, one.policies, of.studies.kept.pack(one.own), failures


def _result(of: Studied, run: Listed, values: Any) -> Result[Any, Any]:
    from goldrush.replay.study.records import Result

    units, (whole, halves, halves_whole, curves), policies, own, failures = values
    return Result(
        cell=run.cell,
        seed=run.seed,
        config=run.config,
        units=units,
        run=whole,
        halves=halves,
        halves_whole=halves_whole,
        curves=curves,
        policies=policies,
        own=of.studies.kept.unpack(own),
        failures=tuple(Failures(*found) for found in failures),
    )
