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
from tests.test_reference import modules

NOBODY = 65534

os.environ["XDG_CACHE_HOME"] = sys.argv[1]
sounds = {Path(sys.argv[1], f"{name}.journal"): make() for name, make in SOUND.items()}
_ = [*modules()]  # what is imported later is perhaps in a folder that nobody can read
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
wrong: list[str] = []
for index.INDEX_FROM in (1 << 20, 500):  # without an index, and where there should be one
    index.SPACING = 2
    for path, sound in sounds.items():
        case = Case(path, path, sound, fate_of(path.read_bytes()), random.Random(0))
        readers = [reader for reader in READERS if reader not in (resumed, forked_off)]
        wrong += [finding for reader in readers if (finding := tried(reader, case))]
        try:
            resume(path, trust=TRUST)
            wrong.append(f"{path} was opened for writing")
        except BadInput as error:
            wrong += [] if "cannot write" in str(error) else [str(error)]
print(json.dumps({"wrong": wrong, "left": sorted(os.listdir(sys.argv[1]))}))
