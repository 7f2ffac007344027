"""What Python runs when it starts, in a program that is recorded or may not reach the network.

The folder of this file stands first in PYTHONPATH. It starts the hook, takes the folder off
`sys.path` (PYTHONPATH keeps it, for the program's own children) and then runs the `sitecustomize`
that would have run without it. Under `python -I`, `-E` or `-S` Python does not come here.
"""

import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def run_next() -> None:
    """Run the next `sitecustomize` on the path, if there is one, in place of this module."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    import goldrush_hook

    goldrush_hook.start()
except Exception as error:
    # Without the hook a recording is still right, as for programs in other languages.
    sys.stderr.write(f"goldrush: no names of callers in this process: {error!r}\n")
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != FOLDER]
run_next()
