"""The colours of policies, the same in pages, figures, reports and terminals.

A policy has a hue, which follows from the order of policies in its world: it does not depend on the
run that is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from goldrush.replay.policies import last_of
from goldrush.replay.studies import NO_STUDIES, Studies

# (on white paper, on black paper). Each has a contrast of at least 4.5 to 1 with its paper. The
# last is grey, for a policy that others are compared with, such as one that cannot learn.
HUES: Final = (
    ("#0072b2", "#5ab1ef"),  # blue
    ("#c44f00", "#ff8b4a"),  # orange
    ("#00805c", "#35c99b"),  # green
    ("#a8487f", "#ea92c4"),  # purple
    ("#8a6100", "#f0bd4a"),  # ochre
    ("#00707a", "#4cc3ce"),  # teal
    ("#b3261e", "#f2857d"),  # red
    ("#5f6368", "#b9bcc0"),  # grey
)
GREY: Final = len(HUES) - 1
SPREAD: Final = 0.55  # in pages agents are shades of a hue, the lightest with so much white


def hues_of(labels: Iterable[str], studies: Studies = NO_STUDIES) -> dict[str, int]:
    """The hue of each policy that is shown, in order, as an index of HUES.

    `Studies.null` is GREY. Of the other `Studies.policies` each has the hue of its place; where
    there are more than hues, they repeat. All other policies get the hues that no shown policy has,
    in order, and then all again. Agents that changed their policy have the hue of the last one; of
    two runs, those that play one policy in the first and another one in the second have their own.
    """
    last = {label: last_of(label) for label in labels}
    shown = list(dict.fromkeys(last.values()))
    known = [label for label in studies.policies if label != studies.null]
    hues = {label: known.index(label) % GREY for label in shown if label in known}
    hues |= {label: GREY for label in shown if label == studies.null}
    free = [hue for hue in range(GREY) if hue not in hues.values()] or list(range(GREY))
    for index, label in enumerate(label for label in shown if label not in hues):
        hues[label] = free[index % len(free)]
    return {label: hues[policy] for label, policy in last.items()}


def css_variables(**others: tuple[str, str]) -> str:
    """Rules of CSS: `--hue-0`, `--hue-1`, ... and others by name, for light and dark paper, and
    `css_classes`.
    """
    colours = {f"hue-{index}": colour for index, colour in enumerate(HUES)} | others
    variables = "".join(
        f" --{name}: light-dark({light}, {dark});" for name, (light, dark) in colours.items()
    )
    return f":root {{{variables} }}\n{css_classes()}"


def css_classes() -> str:
    """A rule of CSS for each hue: the class `c0`, `c1`, ... has its colour."""
    return "".join(f".c{hue} {{ color: var(--hue-{hue}); }}\n" for hue in range(len(HUES)))
