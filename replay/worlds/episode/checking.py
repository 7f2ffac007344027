"""On what a verdict rests that derives a run again: versions, and what is not compared."""

from __future__ import annotations

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.events import ARRAY, GAVE
from goldrush.kernel.worlds.episode.values import TYPE
from goldrush.replay.tools import Basis
from goldrush.replay.worlds.episode.subjects import LiveSubjects
from goldrush.replay.worlds.episode.summary import few
from goldrush.replay.worlds.episode.versions import format_versions


def basis_of(path: str, subjects: LiveSubjects) -> Basis:
    """See Tools.basis: the versions here, and what is given in place of the recorded subject;
    values of which a run has the type alone, and what it leaves out. Raises JournalError.
    """
    types: dict[str, str] = {}
    count, is_compared = 0, False
    with JournalReader(path) as reader:
        commits = iter(reader)
        about = about_of((next(commits).setup or {})["subject"])
        for commit in commits:
            for block in commit.blocks:
                is_compared |= bool(block.rows(GAVE))
                for _, name, _, value in block.rows(ARRAY):
                    is_type = type(value) is tuple and value[0] == TYPE
                    is_compared |= not is_type
                    if is_type:
                        types[name], count = value[1], count + 1
    rests_on = format_versions(about.versions)
    if given := subjects.other_than(about.name):
        rests_on += f", by {given} in place of the recorded {about.name}"
    not_compared: list[str] = []
    if types:
        named = few([f"{name} ({kind})" for name, kind in types.items()])
        values = format_count(count, "value")
        not_compared.append(f"{values} of which the type alone is recorded: {named}")
    if about.ignored:
        not_compared.append(f"what was left out: {few(about.ignored)}")
    return Basis(rests_on, "; ".join(not_compared), is_compared)
