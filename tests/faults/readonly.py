"""All readers, in a folder that must not be written: `python -m tests.faults.readonly FOLDER`.

A process of its own, because for root no folder is read-only: it becomes nobody first. It prints as
JSON what was wrong. The folder has small.journal, forked.journal and big.journal.
"""

import json
import os
import random
import sys
from pathlib import Path

from goldrush.kernel.errors import BadInput
from goldrush.replay.journal import index
from tests.faults.journals import SOUND, TRUST
from tests.faults.readers import READERS, Case, fate_of, forked_off, resumed, tried
from tests.mining import resume

NOBODY = 65534


def main() -> None:
    """Read everything with every reader, without an index and where there should be one."""
    folder = Path(sys.argv[1])
    os.environ["XDG_CACHE_HOME"] = str(folder)
    sounds = {name: make() for name, make in SOUND.items()}
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    wrong: list[str] = []
    for index.INDEX_FROM in (1 << 20, 500):
        index.SPACING = 2
        for name, sound in sounds.items():
            path = folder / f"{name}.journal"
            fate = fate_of(path.read_bytes(), sound)
            case = Case(path, path, sound, fate, random.Random(0))
            readers = [reader for reader in READERS if reader not in (resumed, forked_off)]
            wrong += [str(finding) for reader in readers if (finding := tried(reader, case))]
            wrong += _refusals(path)
    print(json.dumps({"wrong": wrong, "left": sorted(os.listdir(folder))}))


def _refusals(path: Path) -> list[str]:
    try:
        resume(path, trust=TRUST)
    except BadInput as error:
        return [] if "cannot write" in str(error) else [str(error)]
    return [f"{path} was opened for writing"]


if __name__ == "__main__":
    main()
