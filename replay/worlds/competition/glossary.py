"""The words of a season, each with its meaning in a line: on the page of a season they stand under
the words, and kernel/GLOSSARY.md lists the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What stands above the words on the page, for who meets a season for the first time.
INTRODUCTION: Final = (
    "In a season workers argue, assignment by assignment, which conduct is best. Every claim is "
    "tested. Points are for claims that hold, that are new, that move the table, and for rightly "
    "challenging others. A point earns a spark, a seat at the table costs some, and a worker "
    "without sparks, or last too often, loses its seat. Underlined words are explained."
)
ARENA_MAX: Final = 6_000  # characters of an arena's rules that a page carries

WORDS: Final[Mapping[str, str]] = {
    "accuracy": "the score for claims that hold, and come close to what the test shows",
    "admin": "the office that opens assignments, and adopts their conclusions or not",
    "adopt": "of the admin: to accept a conclusion; a project needs one that is adopted",
    "all-time": "in data and prompts: all points that a worker has scored",
    "amend": "to propose a changed version of an earlier proposal",
    "arena": "what a season is about, and where claims are tested: mining, nk, command, or a "
    "plugin's",
    "assignment": "the unit of a season: one piece of work, discussed at one or more tables",
    "assistant": "the office that sums up a table for the admin, and later chooses who sits there",
    "bar": "the tested value of a standard conduct: a claim must promise more",
    "base": "the main part of a claim: the value that is promised for the question itself",
    "bench": "where a worker without a seat waits; it earns some sparks there, and may return",
    "challenge": "to dispute a claim, which is then tested at once; also the score for it",
    "claim": "the value that a proposal promises its conduct will reach when tested",
    "class": "haiku or sonnet: a sonnet seat costs more sparks and allows more trials",
    "conclusion": "the proposal that a table chooses: with most final stances, of equals the best "
    "tested",
    "conduct": "what a season argues about: a way to play, a text, a point of a landscape",
    "contract": "objectives that a worker of a season sets itself, with targets that it can reach",
    "day": "a few assignments in a row; recent points are those of the last days",
    "debrief": "the questions to each worker after the conclusion, before the scores",
    "deleted": "gone for good: a newcomer takes the seat and inherits the memory",
    "edge": "the other part of a claim: that it holds under a second treatment, too",
    "elimination": "the loss of a seat, which leads to the bench or to deletion, as the worker "
    "chooses",
    "final stance": "which proposal a worker stands by in the end, once all claims are tested",
    "hold": "of a claim: the test shows the value that was claimed, or a better one",
    "impact": "the score for what the table would have done otherwise without the worker",
    "instructions": "the settings by which a worker plays; the therapist may have them rewritten",
    "judge": "the office that watches the talk: it may strike out contributions, or end the talk",
    "memory": "what a worker keeps from earlier assignments",
    "novelty": "the score for proposing what nobody has proposed lately",
    "objective": "what is measured, and whether more or less of it is better",
    "pass": "to say nothing that counts in one's turn",
    "persona": "a way of arguing that the therapist proposes to a worker",
    "point": "the unit of scores: up to 3 in each of novelty, accuracy, impact and challenge",
    "project": "several assignments in a row, completed if a conclusion of them was adopted",
    "proof": "the tests of all claims after the talk; what does not hold is refuted",
    "rank": "the place among all workers by recent points",
    "recent points": "the points of the last days (the setting rolling_days), which ranks go by; "
    "`rolling` in data and prompts",
    "redirect": "of the judge: to strike out what is off the question or against a rule",
    "refuted": "of a proposal: the test showed less than was claimed, so it cannot be chosen",
    "round": "a part of the talk, in which each worker may speak once",
    "rubric": "the table of rules by which the four scores are worked out",
    "seat": "a place among the workers who argue; it costs sparks at every table",
    "self-determined": "of a worker or an office: it has a contract, and chooses for itself",
    "sharp": "of a claim that holds: it promised at least half of what the test showed beyond the "
    "bar",
    "skill": "a conduct that the therapist advises a worker to remember",
    "spark": "the unit of a worker's credit in a season: a point earns one, a seat costs some",
    "stage": "how far an office has come: it unlocks rights",
    "stance": "the proposal that a worker stands for at that moment",
    "subject": "the question of a table: an objective under a treatment",
    "support": "to stand by another worker's proposal",
    "sustained": "of a challenge: the test refuted the claim",
    "table": "the workers who argue about one question of an assignment",
    "therapist": "the office that questions the workers after the conclusion, and rates them",
    "tier": "how far a worker has come, by assignments with a seat: it unlocks rights",
    "trait": "a habit of a worker that the therapist noted",
    "treatment": "a named variation of the settings; in a season the one a conduct is tested under",
    "trial": "a test that a worker orders for itself; only it is told the value",
    "worker": "one who proposes, challenges and is scored, and can lose its seat",
}

# Forms of words besides themselves, where these are not the plural alone.
OTHER_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "adopt": ("adopts", "adopted"),
    "amend": ("amends", "amended", "amendment", "amendments"),
    "bench": ("benched",),
    "challenge": ("challenges", "challenged"),
    "class": ("classes", "haiku", "sonnet"),
    "debrief": ("debriefs", "debriefed"),
    "deleted": ("deletion",),
    "elimination": ("eliminations", "eliminated"),
    "hold": ("holds", "held"),
    "memory": ("memories",),
    "pass": ("passes", "passed"),
    "redirect": ("redirects", "redirected"),
    "refuted": ("refutes", "refute"),
    "support": ("supports", "supported"),
}


def forms_of(word: str) -> tuple[str, ...]:
    """A word as it may stand in a text: itself, and its plural or its other forms."""
    return (word, *OTHER_FORMS.get(word, (f"{word}s",)))
