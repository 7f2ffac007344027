"""A second, naive telling of the rules of the competition world, to hold the kernel's against.

It is written from the page of the rules alone and shares no code with the kernel. A step's acts go
in, in their logical form; out comes all that must follow. Nothing is remembered that can be found
again: where everybody stands is worked out anew from the first contribution, every time it is
asked.

Left out are the digest of a state with what only it shows (memory, traits, personas), and what a
newcomer is called: any name will do that nobody had before.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tests.arena_oracle import Arena, is_int, word

Act = dict[str, Any]
Event = dict[str, Any]
Said = dict[str, Any]  # a contribution

DIMENSIONS = ["novelty", "accuracy", "impact", "challenge"]
TIERS = ["tier-1", "tier-2", "tier-3", "self-determined"]

MALFORMED, NOT_YET, OFF = "act/malformed", "stage/not-yet", "rule/off"
TEXT_MAX = 4_000
SHORT_MAX = 200
QUESTIONS_MAX = 20
FACTS_MAX = 50
DUE_MAX = 1_000_000
INTERVIEW_EVERY = 5

# Who does what nobody is named for in the act itself.
OFFICES = {
    "project_reviewed": "user", "tested": "user", "contract_reviewed": "user",
    "condition_kept": "user", "adopted": "admin", "digested": "assistant", "judged": "judge",
    "team_recommended": "therapist", "debriefed": "therapist", "trait_recorded": "therapist",
    "persona_proposed": "therapist", "skill_distilled": "therapist",
    "instructions_rewritten": "therapist", "rated": "therapist",
}  # fmt: skip
# The switches that must be on for an act.
SWITCHES = {
    "judged": ["judged", "table"], "fate_chosen": ["elimination"], "interviewed": ["tiers"],
    "contract_offered": ["tiers"], "contract_reviewed": ["tiers"], "skill_distilled": ["memory"],
    "stood": ["table"],
}  # fmt: skip


class Table:
    """A table: all that was said and done at it, in order."""

    def __init__(self, number: int, subject: list[str], arena: Arena, rounds: int) -> None:
        self.number = number
        self.objective, self.treatment = subject
        self.arena = arena
        self.is_bar_tested = False
        self.bar: float | None = None
        self.team: list[int] | None = None
        self.order_set: list[int] | None = None
        self.rounds = rounds
        self.participants: list[int] = []
        self.order: list[int] = []
        self.moves: dict[int, int] = {}
        self.round = 0
        self.heard: list[int] = []  # who has had its turn in this round
        self.said: list[Said] = []
        self.redirected: list[tuple[int, int]] = []  # id, and how much had been said by then
        self.tests: dict[tuple[int, str], float | None] = {}
        self.signal: str | None = None  # of this round
        self.had_weak_consensus = False
        self.converged: int | None = None  # what led when the judge said so
        self.stood: dict[int, int | None] = {}  # the final stances given
        self.answered: set[int] = set()  # who gave one, a refused one too
        self.conclusion: int | None = None
        self.digest: Act | None = None
        self.adopted: bool | None = None
        self.rated: dict[int, list[int]] = {}
        self.totals: dict[int, int] = {}

    # What was said, and where everybody stands.

    def counted(
        self, left_out: Sequence[int] = (), before: int | None = None, known: int | None = None
    ) -> list[Said]:
        """What counts of all that was said: nothing redirected, nothing left out, and nothing that
        refers to either. `before`: said before this one alone; `known`: redirected before this one
        was said alone.
        """
        gone = [id for id, when in self.redirected if known is None or when <= known]
        gone += left_out
        kept = []
        for said in self.said[:before]:
            if said["move"] == "pass":
                continue
            if said["id"] in gone or said["target"] in gone:
                gone.append(said["id"])
            else:
                kept.append(said)
        return kept

    def without(self, agent: int, has_copies: bool) -> list[Said]:
        """What would have counted without an agent. `has_copies`: what it was the first to propose
        is gone whoever proposed it again.
        """
        gone = [said["id"] for said in self.said if said["agent"] == agent]
        proposals = self.proposals(self.counted())
        for said in proposals if has_copies else []:
            first = next(p for p in proposals if p["conduct"] == said["conduct"])
            if first["agent"] == agent:
                gone.append(said["id"])
        return self.counted(left_out=gone)

    def just_before(self, id: int) -> list[Said]:
        """What counted in the moment before something was said."""
        return self.counted(before=id, known=id)

    def just_after(self, id: int) -> list[Said]:
        """What counted once it was said, and tested if it was a challenge."""
        return self.counted(before=id + 1, known=id)

    def proposals(self, lines: list[Said]) -> list[Said]:
        return [said for said in lines if said["move"] in ("propose", "amend")]

    def claimed(self, id: int, part: str) -> tuple[Any, str]:
        """The conduct of a claim, and the treatment under which a part of it is tested."""
        said = self.said[id]
        return said["conduct"], self.treatment if part == "base" else said["claim"][1]

    def as_good(self, value: float | None, than: float | None) -> bool:
        """Whether a value is at least as good as another."""
        if value is None or than is None:
            return False
        return value >= than if self.arena.is_up(self.objective) else value <= than

    def is_better(self, value: float | None, than: float | None) -> bool:
        """Whether a value is strictly better than another, as any is than none."""
        if value is None or than is None:
            return value is not None
        return self.as_good(value, than) and value != than

    def holds(self, id: int, part: str) -> bool:
        return self.as_good(self.tests[id, part], self.said[id]["claim"][0])

    def is_sharp(self, id: int) -> bool:
        """Whether a base held and claims at least half of what the test shows beyond the bar."""
        tested = self.tests[id, "base"]
        if self.bar is None or tested is None or not self.holds(id, "base"):
            return False
        return 2 * abs(float(self.said[id]["claim"][0]) - self.bar) >= abs(tested - self.bar)

    def is_sustained(self, challenge: Said) -> bool:
        return not self.holds(challenge["target"], challenge["part"])

    def refuted(self, lines: list[Said], is_proven: bool) -> list[int]:
        """The proposals whose base failed: while a table is open those challenged, then all."""
        if is_proven:
            return [s["id"] for s in self.proposals(lines) if not self.holds(s["id"], "base")]
        challenges = [s for s in lines if s["move"] == "challenge" and s["part"] == "base"]
        return [challenge["target"] for challenge in challenges if self.is_sustained(challenge)]

    def stances(self, lines: list[Said], is_proven: bool = False) -> dict[int, int]:
        """The proposal that each agent stands for, if it stands for one."""
        refuted = self.refuted(lines, is_proven)
        found = {}
        for said in lines:
            if said["move"] in ("propose", "amend") and said["id"] not in refuted:
                found[said["agent"]] = said["id"]
            if said["move"] == "support" and said["target"] not in refuted:
                found[said["agent"]] = said["target"]
        return dict(sorted(found.items()))

    def final_stances(self, lines: list[Said], without: int | None = None) -> dict[int, int]:
        """The proposal that each agent stands for at last: as it answered, else as the proof left
        it. Where what it stands for is gone, an agent left out stands for nothing.
        """
        found = self.stances(lines, is_proven=True)
        there = [said["id"] for said in self.proposals(lines)]
        for agent, target in self.stood.items():
            found.pop(agent, None)
            if target is not None and target not in there:
                target = None if agent == without else self.next_best(lines, agent)
            if target is not None:
                found[agent] = target
        return dict(sorted(found.items()))

    def next_best(self, lines: list[Said], agent: int) -> int | None:
        """The best tested proposal not refuted: of equals an agent's own, then the first."""
        refuted = self.refuted(lines, is_proven=True)
        good = [said["id"] for said in self.proposals(lines) if said["id"] not in refuted]
        best = self.best(good)
        own = [id for id in best if self.said[id]["agent"] == agent]
        return min(own or best, default=None)

    def foremost(self, stances: dict[int, int]) -> list[int]:
        """The proposals with most stances, ascending."""
        held = list(stances.values())
        return sorted({id for id in held if held.count(id) == max(map(held.count, held))})

    def leading(self, lines: list[Said]) -> int | None:
        return next(iter(self.foremost(self.stances(lines))), None)

    def equals(self, stances: dict[int, int]) -> list[int]:
        """What can be concluded once all is tested: of those with most stances the best."""
        return self.best(self.foremost(stances))

    def best(self, among: list[int]) -> list[int]:
        """Those of which no other has a better tested base."""
        tested = {id: self.tests[id, "base"] for id in among}
        return [
            id
            for id, value in tested.items()
            if not any(self.is_better(other, value) for other in tested.values())
        ]

    def descends(self, id: int | None, ancestor: int) -> bool:
        """Whether a proposal is another or amends it, at any depth."""
        while id is not None and id != ancestor:
            id = self.said[id]["target"]
        return id is not None

    def untested(self) -> list[tuple[int, str]]:
        found = []
        for said in self.proposals(self.counted()):
            parts = ["base"] if said["claim"][1] is None else ["base", "edge"]
            found += [(said["id"], part) for part in parts if (said["id"], part) not in self.tests]
        return found

    def challenged_now(self) -> tuple[int, str] | None:
        """The part that was challenged last and not yet tested."""
        said = self.said[-1] if self.said else None
        if said is None or said["move"] != "challenge":
            return None
        part = (said["target"], said["part"])
        return None if part in self.tests else part

    def left(self) -> list[int]:
        """Who has still to be heard in this round, in order."""
        return [a for a in self.order if self.moves[a] > 0 and a not in self.heard]


class SeasonOracle:
    """A season between two steps; `step` moves it on by one."""

    def __init__(self, config: dict[str, Any], cast: Sequence[dict[str, Any]]) -> None:
        self.config = config
        self.arena = Arena(config["arena"])
        self.assignment = 0
        self.phase = "open"
        self.agents: dict[int, dict[str, Any]] = {}
        for entry in cast:
            self.join(entry["ordinal"], entry["role"])
        self.tables: list[Table] = []
        self.totals: list[tuple[int, int, int]] = []  # day, agent, total
        self.known: list[tuple[int, Any]] = []  # day, conduct
        self.adopted: list[tuple[int, list[str], float | None]] = []  # assignment, subject, value
        self.completed = 0  # projects
        self.is_split = False
        self.approved: Any = None
        self.begin()

    def begin(self) -> None:
        """What is forgotten when an assignment closes."""
        self.tables = []
        self.opening: Act | None = None
        self.proposed: Any = None
        self.turn: int | None = None
        self.trials: list[tuple[int, str]] = []  # agent, phase
        self.bottoms: list[tuple[int, int]] = []  # table, agent
        self.faced: dict[int, str] = {}
        self.fates: dict[int, str] = {}
        self.candidates: list[int] = []
        self.interviewed: list[int] = []
        self.words_given: list[tuple[int, str]] = []
        self.offers: dict[int, list[Any]] = {}
        self.reviews: dict[int, list[Any] | None] = {}

    # Who is who.

    def join(self, ordinal: int, role: str) -> None:
        is_office = role in ("assistant", "judge", "therapist")
        self.agents[ordinal] = {
            "role": role, "status": "active", "class": "haiku", "stage": int(is_office),
            "sparks": self.config["sparks_start"], "served": 0, "streak": 0, "benched": None,
            "instructions": {}, "self-determined": False, "interview": None, "contract": None,
        }  # fmt: skip

    def office(self, role: str) -> int:
        return next(o for o, agent in self.agents.items() if agent["role"] == role)

    def holder(self, role: str) -> dict[str, Any]:
        return self.agents[self.office(role)]

    def workers(self, *statuses: str) -> list[int]:
        """Workers of these statuses, in order."""
        return [
            ordinal
            for ordinal, agent in sorted(self.agents.items())
            if agent["role"] == "worker" and agent["status"] in statuses
        ]

    def is_active(self, agent: Any) -> bool:
        return type(agent) is int and agent in self.workers("active")

    def seated(self) -> list[int]:
        """Everybody at a table of this assignment."""
        return sorted({agent for table in self.tables for agent in table.participants})

    def day(self, assignment: int) -> int:
        return assignment // int(self.config["assignments_per_day"])

    def project(self, assignment: int) -> int:
        return assignment // int(self.config["assignments_per_project"])

    def in_force(self, ordinal: int) -> list[list[Any]]:
        """The conditions of an agent's contract that hold now; the bench suspends them."""
        agent = self.agents[ordinal]
        if agent["contract"] is None or agent["status"] != "active":
            return []
        return [list(condition) for condition in agent["contract"]["conditions"]]

    def has_condition(self, ordinal: int, name: str) -> bool:
        return name in [condition[0] for condition in self.in_force(ordinal)]

    def chosen_objective(self) -> tuple[int, str] | None:
        """Who may choose the next objective by contract, and which: the first who may."""
        for ordinal in sorted(self.agents):
            for name, objective in self.in_force(ordinal):
                if name == "objective":
                    return ordinal, objective
        return None

    def fee(self, ordinal: int) -> int:
        """What a seat costs an agent, or would if it came back from the bench."""
        agent = self.agents[ordinal]
        haiku, sonnet = self.config["entry_fee"]
        if agent["contract"] is not None and ["fee_paid", None] in agent["contract"]["conditions"]:
            return 0
        return int(sonnet if agent["class"] == "sonnet" else haiku)

    @property
    def table(self) -> Table:
        return self.tables[-1]

    # A step: acts are judged one after the other, then what follows.

    def step(self, acts: Sequence[Act]) -> list[Event]:
        """What follows from the acts of one step."""
        self.out: list[Event] = []
        self.refused_trials: list[int] = []  # agents
        for index, act in enumerate(by_ordinal(acts)):
            code = self.code_of(act)
            if code is None:
                getattr(self, "do_" + act["event"])(act)
            else:
                self.refuse(index, act, code)
        getattr(self, "after_" + self.phase)()
        return self.out

    def code_of(self, act: Act) -> str | None:
        """Why an act is refused; None where it is done."""
        who = self.author(act)
        if who not in self.agents or self.agents[who]["status"] == "gone":
            return MALFORMED
        if not all(self.config[switch] for switch in SWITCHES.get(act["event"], [])):
            return OFF
        code: str | None = getattr(self, "judge_" + act["event"])(act)
        return code

    def refuse(self, index: int, act: Act, code: str) -> None:
        """A refused contribution is a pass, a refused trial the last one of its author's step."""
        fields = {name: value for name, value in act.items() if name != "assignment"}
        self.follow("refused", who=self.author(act), act={"index": index, **fields}, code=code)
        if act["event"] == "tried" and self.tables and act["table"] == self.table.number:
            self.refused_trials.append(act["agent"])
        if act["event"] == "spoke" and self.phase == "speak" and self.is_turn(act):
            self.say_nothing()

    def follow(self, name: str, /, **fields: Any) -> None:
        self.out.append({"event": name, "assignment": self.assignment, **fields})

    def author(self, act: Act) -> int:
        if act["event"] in OFFICES:
            return self.office(OFFICES[act["event"]])
        if act["event"] == "interviewed":
            is_therapist = act["agent"] == self.office("therapist")
            return self.office("admin" if is_therapist else "therapist")
        return int(next(act[field] for field in ("by", "who", "agent") if field in act))

    def judge_answered(self, act: Act) -> str | None:
        """What a language model wrote is never wrong, and changes nothing."""

    do_answered = judge_answered

    # Before the table: projects, classes, teams, the opening.

    def judge_project_proposed(self, act: Act) -> str | None:
        if self.phase != "open" or self.opening is not None:
            return MALFORMED
        admin = self.office("admin")
        if act["by"] != admin or not self.agents[admin]["self-determined"]:
            return NOT_YET
        return None if self.arena.is_subject(act["subject"]) else MALFORMED

    def do_project_proposed(self, act: Act) -> None:
        self.proposed = act["subject"]

    def judge_project_reviewed(self, act: Act) -> str | None:
        is_time = self.phase == "open" and self.opening is None and self.proposed is not None
        return None if is_time and is_bool(act["approved"]) else MALFORMED

    def do_project_reviewed(self, act: Act) -> None:
        if act["approved"]:
            self.approved = self.proposed
        self.proposed = None

    def judge_class_moved(self, act: Act) -> str | None:
        if self.phase != "open" or self.opening is not None or not self.is_active(act["agent"]):
            return MALFORMED
        agent = self.agents[act["agent"]]
        if act["class"] not in ("haiku", "sonnet"):
            return MALFORMED
        if act["allowed"] is None:
            return None if agent["self-determined"] else NOT_YET
        if not is_bool(act["allowed"]):
            return MALFORMED
        return None if agent["stage"] >= 2 else NOT_YET

    def do_class_moved(self, act: Act) -> None:
        if act["allowed"] is not False:
            self.agents[act["agent"]]["class"] = act["class"]

    def judge_team_recommended(self, act: Act) -> str | None:
        if self.phase != "open" or self.opening is not None:
            return MALFORMED
        if not self.holder("therapist")["self-determined"]:
            return NOT_YET
        return self.wrong_team(act["team"])

    def do_team_recommended(self, act: Act) -> None:
        """The admin may follow it or not."""

    def wrong_team(self, team: Any) -> str | None:
        if not self.is_list_of_active(team):
            return MALFORMED
        return None if len(team) >= 3 else "team/too-small"

    def is_list_of_active(self, them: Any) -> bool:
        if not isinstance(them, list) or not all(self.is_active(agent) for agent in them):
            return False
        return len(set(them)) == len(them)

    def judge_assignment_opened(self, act: Act) -> str | None:
        if self.phase != "open" or self.opening is not None:
            return MALFORMED
        by, subjects, directive = act["by"], act["subjects"], act["directive"]
        is_admin = self.agents[by]["role"] == "admin"
        if not is_admin and not (self.is_active(by) and self.agents[by]["stage"] >= 3):
            return NOT_YET
        when = (self.day(self.assignment), self.project(self.assignment))
        if (act["day"], act["project"]) != when:
            return MALFORMED
        if not isinstance(subjects, list) or not subjects:
            return MALFORMED
        if not all(map(self.arena.is_subject, subjects)):
            return MALFORMED
        if len(subjects) > 1 and not (is_admin and self.is_split):
            return NOT_YET
        if len(subjects) > 2 or len({treatment for _, treatment in subjects}) < len(subjects):
            return MALFORMED
        if self.agents[by]["role"] == "admin" or not self.agents[by]["self-determined"]:
            choice = self.chosen_objective()
            if choice is not None:
                if subjects[0][0] != choice[1]:
                    return MALFORMED
            elif self.approved is not None and subjects[0] != self.approved:
                return MALFORMED
        if directive is None:
            return None
        if not isinstance(directive, list) or len(directive) != 2:
            return MALFORMED
        team, order = directive
        code = None if team is None else self.wrong_team(team)
        if code is None and order is not None and not self.is_list_of_active(order):
            return MALFORMED
        return code

    def do_assignment_opened(self, act: Act) -> None:
        self.opening = act
        choice = self.chosen_objective()
        first = act["subjects"][0]
        if choice is not None and first[0] == choice[1]:
            contract = self.agents[choice[0]]["contract"]
            contract["conditions"] = [c for c in contract["conditions"] if c[0] != "objective"]
        if self.approved == first:
            self.approved = None

    def after_open(self) -> None:
        if self.opening is not None:
            self.is_split = False
            self.set_table()

    def set_table(self) -> None:
        assert self.opening is not None
        number = len(self.tables)
        subject, rounds = self.opening["subjects"][number], self.config["rounds_max"]
        self.tables.append(Table(number, subject, self.arena, rounds))
        self.phase = "set"

    # The table is set.

    def judge_table_set(self, act: Act) -> str | None:
        if self.phase != "set" or act["table"] != self.table.number:
            return MALFORMED
        by, team, order, rounds = act["by"], act["team"], act["order"], act["rounds"]
        if by not in (self.office("assistant"), self.office("judge")):
            return MALFORMED
        agent = self.agents[by]
        is_assistant = agent["role"] == "assistant"
        if team is not None and not (is_assistant and agent["stage"] >= 2):
            return NOT_YET
        if order is not None and not (is_assistant and agent["stage"] >= 3):
            return NOT_YET
        if rounds is not None and not agent["self-determined"]:
            return NOT_YET
        if team is not None:
            code = MALFORMED if self.directed(0) is not None else self.wrong_team(team)
            if code is not None:
                return code
        is_free = self.directed(1) is None
        if order is not None and not (is_free and self.is_list_of_active(order)):
            return MALFORMED
        longest = 2 * int(self.config["rounds_max"])
        is_right = rounds is None or (is_int(rounds) and 2 <= rounds <= longest)
        return None if is_right else MALFORMED

    def directed(self, which: int) -> list[int] | None:
        """The directive's team (0) or order (1)."""
        assert self.opening is not None
        directive = self.opening["directive"]
        return None if directive is None else directive[which]

    def do_table_set(self, act: Act) -> None:
        if act["team"] is not None:
            self.table.team = act["team"]
        if act["order"] is not None:
            self.table.order_set = act["order"]
        if act["rounds"] is not None:
            self.table.rounds = act["rounds"]

    def judge_tested(self, act: Act) -> str | None:
        part = (act["at"], act["part"])
        table = self.tables[-1] if self.tables else None
        if table is None or act["table"] != table.number:
            return MALFORMED
        if self.phase == "set":
            if table.is_bar_tested or part != (None, None):
                return MALFORMED
            expected, treatment = self.arena.bar(table.treatment), table.treatment
        elif self.phase in ("test", "prove"):
            due = table.untested() if self.phase == "prove" else [table.challenged_now()]
            if part not in due:
                return MALFORMED
            expected, treatment = table.claimed(*part)
        else:
            return MALFORMED
        seeds = [seed for seed, _ in act["runs"]]
        key = self.key("test", table)
        drawn = [2**52 + word(key, i) // 2**12 for i in range(self.arena.options["seeds"])]
        is_right = (act["conduct"], act["treatment"], seeds) == (expected, treatment, drawn)
        return None if is_right else MALFORMED

    def do_tested(self, act: Act) -> None:
        if act["at"] is None:
            self.table.is_bar_tested, self.table.bar = True, act["value"]
        else:
            self.table.tests[act["at"], act["part"]] = act["value"]

    def after_set(self) -> None:
        table = self.table
        if not table.is_bar_tested:
            return
        team = self.directed(0) or table.team or self.workers("active")
        seats = [a for a in self.workers("active") if self.has_condition(a, "seat")]
        table.participants = sorted({*team, *seats})
        order = table.order_set if self.directed(1) is None else self.directed(1)
        words: list[int] = []
        if order is None:
            table.order, words = shuffled(self.key("order", table), table.participants)
        else:
            first = [agent for agent in order if agent in table.participants]
            table.order = first + [a for a in table.participants if a not in first]
        for agent in table.participants:
            has_tier = self.agents[agent]["stage"] >= 1
            moves = self.config["moves_expanded" if has_tier else "moves"]
            table.moves[agent] = moves + self.has_condition(agent, "moves")
        if not self.config["table"]:
            table.rounds = 1
        self.follow(
            "roundtable_opened",
            table=table.number,
            participants=table.participants,
            order=table.order,
            words=shown(words),
            rounds=table.rounds,
        )
        self.phase = "try"
        if not any(map(self.may_try, table.participants)):
            self.after_try()

    # Trials.

    def may_try(self, agent: int) -> bool:
        """Whether somebody has a trial left: before the first round, of half of them."""
        haiku, sonnet = self.config["trials"]
        trials = int(sonnet if self.agents[agent]["class"] == "sonnet" else haiku)
        ordered = [phase for who, phase in self.trials if who == agent]
        if self.phase == "try" and ordered.count("try") >= (trials + 1) // 2:
            return False
        return len(ordered) < trials

    def judge_tried(self, act: Act) -> str | None:
        if self.phase not in ("try", "speak") or act["table"] != self.table.number:
            return MALFORMED
        table, agent, conduct = self.table, act["agent"], act["conduct"]
        if agent not in table.participants or agent in self.refused_trials:
            return MALFORMED
        if self.phase == "speak" and agent != self.turn:
            return MALFORMED
        if not self.may_try(agent):
            return "trial/none-left"
        number = [who for who, _ in self.trials].count(agent)
        if act["number"] != number or not self.arena.is_treatment(act["treatment"]):
            return MALFORMED
        if not self.arena.is_canonical(conduct, table.treatment):
            return "conduct/not-canonical"
        seeds = [seed for seed, _ in act["runs"]]
        drawn = word(self.key("trial", table, agent), number) // 2**12
        return None if seeds == [drawn] else MALFORMED

    def do_tried(self, act: Act) -> None:
        self.trials.append((act["agent"], self.phase))

    def after_try(self) -> None:
        self.next_turn()

    # At the table.

    def judge_spoke(self, act: Act) -> str | None:
        if self.phase != "speak":
            return MALFORMED
        table, who, move = self.table, act["agent"], act["move"]
        if table.number == act["table"] and table.moves.get(who) == 0 and move != "pass":
            return "move/none-left"
        at = (act["round"], act["id"])
        if not self.is_turn(act) or at != (table.round, len(table.said)):
            return MALFORMED
        return self.wrong_form(act) or self.wrong_move(act)

    def is_turn(self, act: Act) -> bool:
        """Whether who speaks is whose turn it is, at this table."""
        return (act["table"], act["agent"]) == (self.table.number, self.turn)

    def wrong_form(self, act: Act) -> str | None:
        """Whether a move carries something else than it must."""
        carries = {
            "propose": ["conduct", "claim"],
            "amend": ["target", "conduct", "claim"],
            "support": ["target"],
            "challenge": ["target", "part"],
            "pass": [],
        }
        if not isinstance(act["move"], str) or act["move"] not in carries:
            return MALFORMED
        for field in ("target", "conduct", "claim", "part"):
            if (act[field] is not None) != (field in carries[act["move"]]):
                return MALFORMED
        return None if is_text(act["words"]) and self.is_because(act["because"]) else MALFORMED

    def is_because(self, because: Any) -> bool:
        """Whether this is nothing, or ids of what was said before and whether on own trials."""
        if because is None:
            return True
        if not isinstance(because, list) or len(because) != 2 or not isinstance(because[0], list):
            return False
        ids, own = because
        is_right = all(is_int(id) and 0 <= id < len(self.table.said) for id in ids)
        return is_right and len(set(ids)) == len(ids) and is_bool(own)

    def is_claim(self, claim: Any) -> bool:
        if not isinstance(claim, list) or len(claim) != 2 or not is_number(claim[0]):
            return False
        edge = claim[1]
        return edge is None or (self.arena.is_treatment(edge) and edge != self.table.treatment)

    def wrong_move(self, act: Act) -> str | None:
        table, who, move, target = self.table, act["agent"], act["move"], act["target"]
        if move == "challenge" and not self.config["challenges"]:
            return OFF
        if move not in ("propose", "pass") and not self.config["table"]:
            return OFF
        lines = table.counted()
        if move in ("amend", "support", "challenge"):
            proposals = [said["id"] for said in table.proposals(lines)]
            if not is_int(target) or target not in proposals:
                return "move/unknown-target"
            its = table.said[target]
            if move != "amend" and its["agent"] == who:
                return "move/own"
            if move == "challenge" and act["part"] not in ("base", "edge"):
                return "move/unknown-target"
            if move == "challenge" and act["part"] == "edge" and its["claim"][1] is None:
                return "move/unknown-target"
            if move == "support" and target in table.refuted(lines, is_proven=False):
                return "move/refuted"
            if move == "support" and table.stances(lines).get(who) == target:
                return "move/repeated"
            challenged = [
                (said["target"], said["part"]) for said in lines if said["move"] == "challenge"
            ]
            if move == "challenge" and (target, act["part"]) in challenged:
                return "move/repeated"
            if move == "amend" and act["conduct"] == its["conduct"]:
                return "move/repeated"
        if move in ("propose", "amend"):
            if not self.arena.is_canonical(act["conduct"], table.treatment):
                return "conduct/not-canonical"
            if not self.is_claim(act["claim"]):
                return MALFORMED
            if not table.is_better(act["claim"][0], table.bar):
                return "claim/vacuous"
        return None

    def do_spoke(self, act: Act) -> None:
        self.say({name: act[name] for name in ("agent", "move", "target", "conduct", "claim")}, act)
        if act["move"] != "pass":
            self.table.moves[act["agent"]] -= 1

    def say(self, said: dict[str, Any], act: Act | None = None) -> None:
        table = self.table
        part = None if act is None else act["part"]
        table.said.append({**said, "id": len(table.said), "round": table.round, "part": part})
        table.heard.append(said["agent"])
        self.turn = None

    def say_nothing(self) -> None:
        silent = {"move": "pass", "target": None, "conduct": None, "claim": None}
        self.say({"agent": self.turn, **silent})

    def after_speak(self) -> None:
        if self.turn is not None:
            self.table.heard.append(self.turn)
        if self.table.challenged_now() is not None:
            self.phase = "test"
        else:
            self.next_turn()

    def after_test(self) -> None:
        if self.table.challenged_now() is None:
            self.next_turn()

    def next_turn(self) -> None:
        left = self.table.left()
        self.turn = left[0] if left else None
        self.phase = "speak" if left else "judge"
        if self.phase == "judge" and not (self.config["judged"] and self.config["table"]):
            self.after_judge()

    def judge_judged(self, act: Act) -> str | None:
        if self.phase != "judge" or self.table.signal is not None:
            return MALFORMED
        table, signal, ids = self.table, act["signal"], act["ids"]
        if (act["table"], act["round"]) != (table.number, table.round):
            return MALFORMED
        if not is_text(act["reason"]) or not isinstance(ids, list):
            return MALFORMED
        if signal not in ("clean", "redirect", "converged", "weak-consensus", "split"):
            return MALFORMED
        this_round = [s["id"] for s in table.said if s["round"] == table.round]
        spoken = [id for id in this_round if table.said[id]["move"] != "pass"]
        if signal == "redirect":
            is_right = ids and all(is_int(id) and id in spoken for id in ids)
            return None if is_right and len(set(ids)) == len(ids) else MALFORMED
        if ids:
            return MALFORMED
        stage = self.holder("judge")["stage"]
        if signal == "weak-consensus":
            if stage < 2:
                return NOT_YET
            return "move/repeated" if table.had_weak_consensus else None
        if signal == "split" and stage < 3:
            return NOT_YET
        if signal == "converged":
            held = list(table.stances(table.counted()).values())
            most = max(map(held.count, held), default=0)
            return None if 2 * most > len(table.participants) else "signal/not-converged"
        return None

    def do_judged(self, act: Act) -> None:
        self.table.signal = act["signal"]
        if act["signal"] == "converged":
            self.table.converged = self.table.leading(self.table.counted())
        self.table.redirected += [(id, len(self.table.said)) for id in act["ids"]]

    def after_judge(self) -> None:
        table = self.table
        signal, table.signal = table.signal, None
        moves = [said["move"] for said in table.said if said["round"] == table.round]
        is_quiet = not {"propose", "amend", "challenge"} & set(moves)
        if signal == "split":
            self.is_split = True
        if signal == "weak-consensus":
            table.had_weak_consensus = True
            table.rounds += 1
            table.moves = {agent: moves + 1 for agent, moves in table.moves.items()}
        elif (
            signal == "converged"
            or is_quiet
            or not any(table.moves.values())
            or table.round + 1 >= table.rounds
        ):
            self.phase = "prove"
            if not table.untested():
                self.after_prove()
            return
        table.round += 1
        table.heard = []
        self.next_turn()

    # All is tested: where everybody stands at last, and what is concluded.

    def after_prove(self) -> None:
        table = self.table
        if table.untested():
            return
        lines = table.counted()
        refuted = table.refuted(lines, is_proven=True)
        is_any_left = any(said["id"] not in refuted for said in table.proposals(lines))
        self.phase = "stand"
        if not (self.config["table"] and is_any_left):
            self.after_stand()

    def judge_stood(self, act: Act) -> str | None:
        if self.phase != "stand" or act["table"] != self.table.number:
            return MALFORMED
        table, agent, target = self.table, act["agent"], act["target"]
        if agent not in table.participants or agent in table.answered:
            return MALFORMED
        table.answered.add(agent)
        if not is_text(act["words"]) or not self.is_because(act["because"]):
            return MALFORMED
        if target is None:
            return None
        lines = table.counted()
        if not is_int(target) or target not in [said["id"] for said in table.proposals(lines)]:
            return "move/unknown-target"
        return "move/refuted" if target in table.refuted(lines, is_proven=True) else None

    def do_stood(self, act: Act) -> None:
        self.table.stood[act["agent"]] = act["target"]

    def after_stand(self) -> None:
        self.conclude()
        self.phase = "digest"

    def conclude(self) -> None:
        table = self.table
        stances = table.final_stances(table.counted())
        table.conclusion, tied, words = self.concluded(table, stances)
        conduct = None
        if table.conclusion is not None:
            conduct = table.said[table.conclusion]["conduct"]
            if table.conclusion == table.converged:
                self.count("judge")
        self.follow(
            "concluded",
            table=table.number,
            proposal=table.conclusion,
            conduct=conduct,
            stances=[list(stance) for stance in stances.items()],
            tied=tied,
            words=shown(words),
        )

    def concluded(
        self, table: Table, stances: dict[int, int]
    ) -> tuple[int | None, list[int], list[int]]:
        """What is concluded of these stances: the proposal, those drawn among, the words."""
        equals = table.equals(stances)
        if len(equals) < 2:
            return (equals[0] if equals else None), [], []
        index, words = below(self.key("conclude", table), len(equals))
        return equals[index], equals, words

    # What becomes of the conclusion.

    def judge_digested(self, act: Act) -> str | None:
        table = self.tables[-1] if self.tables else None
        if self.phase != "digest" or table is None or table.digest is not None:
            return MALFORMED
        if act["table"] != table.number or not is_bool(act["rejected"]):
            return MALFORMED
        if not is_text(act["text"]) or not is_text(act["dissent"]):
            return MALFORMED
        if not act["rejected"]:
            return None
        if self.holder("assistant")["stage"] < 4:
            return NOT_YET
        return None if self.is_rejectable(table) else MALFORMED

    def is_rejectable(self, table: Table) -> bool:
        """Whether a conclusion's edge failed, or the last one adopted was as good."""
        id = table.conclusion
        if id is None:
            return False
        if table.said[id]["claim"][1] is not None and not table.holds(id, "edge"):
            return True
        subject = [table.objective, table.treatment]
        last = [value for _, about, value in self.adopted if about == subject][-1:]
        return any(not table.is_better(table.tests[id, "base"], value) for value in last)

    def do_digested(self, act: Act) -> None:
        self.table.digest = act

    def after_digest(self) -> None:
        digest = self.table.digest
        is_rejected = digest is not None and digest["rejected"]
        if self.table.conclusion is None or is_rejected:
            self.after_adopt()
        else:
            self.phase = "adopt"

    def judge_adopted(self, act: Act) -> str | None:
        if self.phase != "adopt" or self.table.adopted is not None:
            return MALFORMED
        is_right = act["table"] == self.table.number and is_bool(act["adopted"])
        return None if is_right else MALFORMED

    def do_adopted(self, act: Act) -> None:
        table = self.table
        table.adopted = act["adopted"]
        if act["adopted"] and table.conclusion is not None:
            value = table.tests[table.conclusion, "base"]
            self.adopted.append((self.assignment, [table.objective, table.treatment], value))
            self.count("assistant")

    def after_adopt(self) -> None:
        assert self.opening is not None
        if len(self.tables) < len(self.opening["subjects"]):
            self.set_table()
        else:
            self.phase = "debrief"

    # The debrief.

    def judge_debriefed(self, act: Act) -> str | None:
        if self.phase not in ("debrief", "improve") or act["table"] >= len(self.tables):
            return MALFORMED
        if act["extra"] != (self.phase == "improve"):
            return MALFORMED
        if act["extra"]:
            is_asked = (act["table"], act["agent"]) in self.bottoms
        else:
            is_asked = act["agent"] in self.tables[act["table"]].participants
        is_right = is_asked and is_interview(act["questions"], act["answers"])
        return None if is_right else MALFORMED

    def do_debriefed(self, act: Act) -> None:
        """Nothing comes of it."""

    def judge_trait_recorded(self, act: Act) -> str | None:
        if not self.is_improved(act):
            return MALFORMED
        sources = act["from"]
        is_right = isinstance(sources, list) and all(map(is_int, sources))
        return None if is_right and is_short(act["trait"]) else MALFORMED

    def is_improved(self, act: Act) -> bool:
        """Whether it is the time to help somebody along who sat at a table."""
        return self.phase in ("debrief", "improve") and act["agent"] in self.seated()

    do_trait_recorded = do_debriefed

    def judge_persona_proposed(self, act: Act) -> str | None:
        if self.phase in ("debrief", "improve") and self.holder("therapist")["stage"] < 2:
            return NOT_YET
        if not self.is_improved(act):
            return MALFORMED
        return None if is_short(act["persona"]) and is_bool(act["taken"]) else MALFORMED

    do_persona_proposed = do_debriefed

    def judge_skill_distilled(self, act: Act) -> str | None:
        if not self.is_improved(act):
            return MALFORMED
        if not self.is_skill(act["skill"]) or not (act["taken"] is None or is_bool(act["taken"])):
            return MALFORMED
        return None if self.may_develop(act) else NOT_YET

    def is_skill(self, skill: Any) -> bool:
        """Whether this is a subject, a conduct for it, and what it is worth if that is known."""
        if not isinstance(skill, list) or len(skill) != 4 or not self.arena.is_subject(skill[:2]):
            return False
        _, treatment, conduct, value = skill
        is_right = self.arena.is_canonical(conduct, treatment)
        return is_right and (value is None or is_number(value))

    def may_develop(self, act: Act) -> bool:
        """Whether the therapist may rewrite and teach, asking the worker or not."""
        therapist = self.holder("therapist")
        if act["taken"] is None:
            return bool(therapist["self-determined"])
        return bool(therapist["stage"] >= 3)

    do_skill_distilled = do_debriefed

    def judge_instructions_rewritten(self, act: Act) -> str | None:
        if not self.is_improved(act):
            return MALFORMED
        before, after, taken = act["before"], act["after"], act["taken"]
        if before is None or not is_facts(after) or not (taken is None or is_bool(taken)):
            return MALFORMED
        if before != self.agents[act["agent"]]["instructions"]:
            return MALFORMED
        is_bottom = act["agent"] in [agent for _, agent in self.bottoms]
        return None if is_bottom or self.may_develop(act) else NOT_YET

    def do_instructions_rewritten(self, act: Act) -> None:
        if act["taken"] is not False:
            self.agents[act["agent"]]["instructions"] = act["after"]

    def judge_rated(self, act: Act) -> str | None:
        if self.phase != "debrief":
            is_scored = self.assignment or self.phase in ("improve", "fate", "contract", "keep")
            return "score/final" if is_scored else MALFORMED
        if act["table"] >= len(self.tables):
            return MALFORMED
        table, raw, reasons = self.tables[act["table"]], act["raw"], act["reasons"]
        if act["agent"] not in table.participants:
            return MALFORMED
        if act["agent"] in table.rated:
            return "score/final"
        if not isinstance(raw, list) or not isinstance(reasons, list):
            return MALFORMED
        is_right = len(raw) == len(reasons) == 4 and all(map(is_text, reasons))
        return None if is_right and all(is_int(n) and 0 <= n <= 3 for n in raw) else MALFORMED

    def do_rated(self, act: Act) -> None:
        self.tables[act["table"]].rated[act["agent"]] = act["raw"]

    # Scores.

    def after_debrief(self) -> None:
        for table in self.tables:
            self.score(table)
        self.pay()
        self.post()
        for table in self.tables:
            self.find_bottom(table)
        self.face()
        self.phase = "improve"
        if not self.bottoms:
            self.after_improve()

    def score(self, table: Table) -> None:
        rubrics, raws, steps, scores = {}, {}, {}, {}
        for agent in table.participants:
            rubrics[agent] = self.rubric(table, agent)
            raws[agent] = table.rated.get(agent) or rubrics[agent]
            scores[agent], steps[agent] = self.stepped(table, agent, raws[agent])
        if self.config["scoring"] == "relative":
            for index, dimension in enumerate(DIMENSIONS):
                middle = lower_median([score[index] for score in scores.values()])
                for agent, score in scores.items():
                    before = score[index]
                    if before >= 1:
                        score[index] = min(3, max(1, before + 1 - middle))
                    if score[index] != before:
                        steps[agent].append(["relative", dimension, before, score[index]])
        for agent in table.participants:
            total = sum(scores[agent])
            table.totals[agent] = total
            self.totals.append((self.day(self.assignment), agent, total))
            self.follow(
                "scored",
                table=table.number,
                agent=agent,
                raw=raws[agent],
                steps=steps[agent],
                final=scores[agent],
                total=total,
                rubric=sum(rubrics[agent]),
            )
            own, therapist = self.agents[agent]["contract"], self.holder("therapist")["contract"]
            if own is not None:
                own["won"].append(total > lower_median([sum(s) for s in scores.values()]))
            if therapist is not None:
                therapist["rubrics"].append(sum(rubrics[agent]))

    def stepped(self, table: Table, agent: int, raw: list[int]) -> tuple[list[int], list[Any]]:
        """A score after all steps but the relative one, and these steps."""
        score, steps = list(raw), []
        best = self.best_proposal(table, agent)[1]
        if score[0] >= 2 and best is not None and not table.holds(best, "base") and score[1]:
            steps.append(["novelty-farming", "accuracy", score[1], 0])
            score[1] = 0
        moves = [said["move"] for said in table.counted() if said["agent"] == agent]
        is_agreeing = "support" in moves and "challenge" not in moves
        if "challenge" in moves and not self.is_mostly_sustained(table, agent):
            is_agreeing = True
        if is_agreeing and score[3]:
            steps.append(["agreeing", "challenge", score[3], 0])
            score[3] = 0
        return score, steps

    def rubric(self, table: Table, agent: int) -> list[int]:
        return [
            self.best_proposal(table, agent)[0],
            self.accuracy(table, agent),
            self.impact(table, agent),
            self.challenge(table, agent),
        ]

    def best_proposal(self, table: Table, agent: int) -> tuple[int, int | None]:
        """The novelty of an agent's best proposal, and which it is: the earliest of equals."""
        best, which = 0, None
        for said in table.proposals(table.counted()):
            if said["agent"] == agent:
                novelty = self.novelty(table, said["id"])
                if which is None or novelty > best:
                    best, which = novelty, said["id"]
        return best, which

    def novelty(self, table: Table, id: int) -> int:
        conduct = table.said[id]["conduct"]
        known = self.known_before(table) + self.proposed_before(table, id)
        nearest = min((self.arena.distance(conduct, other) for other in known), default=2)
        if nearest < 2:
            return nearest
        led = table.leading(table.just_before(id)) is not None
        return 3 if led and table.descends(table.conclusion, id) else 2

    def known_before(self, table: Table) -> list[Any]:
        """The conducts that were known when a table was opened."""
        today, window = self.day(self.assignment), int(self.config["rolling_days"])
        known = [conduct for day, conduct in self.known if today - day < window]
        for earlier in self.tables[: table.number]:
            known += [said["conduct"] for said in earlier.proposals(earlier.counted())]
        return known

    def proposed_before(self, table: Table, id: int) -> list[Any]:
        """The conducts that who made a proposal had heard, or made, at this table before."""
        agent = table.said[id]["agent"]
        return [
            said["conduct"]
            for said in table.proposals(table.counted(before=id))
            if self.config["table"] or said["agent"] == agent
        ]

    def accuracy(self, table: Table, agent: int) -> int:
        mine = [said for said in table.counted() if said["agent"] == agent]
        own = [said["id"] for said in table.proposals(mine)]
        bases = [id for id in own if self.is_counted(table, id)]
        held = [table.holds(id, "base") for id in bases]
        held += [table.is_sustained(said) for said in mine if said["move"] == "challenge"]
        if not any(held):
            return 0
        if not all(held):
            return 1
        if not bases:
            return 2  # for grounds alone
        sharp = [table.is_sharp(id) for id in bases]
        if not any(sharp):
            return 1
        edges = [table.holds(id, "edge") for id in own if table.said[id]["claim"][1] is not None]
        reaches = any(edges)
        if len(self.arena.treatments()) == 1:
            first, *others = [table.said[id]["conduct"] for id in bases]
            reaches = any(self.arena.distance(first, other) == 2 for other in others)
        return 3 if all(sharp) and all(edges) and reaches else 2

    def is_counted(self, table: Table, id: int) -> bool:
        """Whether a base says something: of a conduct neither the bar's nor one that was proposed
        or, by a challenge, tested before.
        """
        challenged = [said["target"] for said in table.said[:id] if said["move"] == "challenge"]
        spent = [self.arena.bar(table.treatment), *self.proposed_before(table, id)]
        spent += [table.said[target]["conduct"] for target in challenged]
        return table.said[id]["conduct"] not in spent

    def impact(self, table: Table, agent: int) -> int:
        with_it, without = table.counted(), table.without(agent, has_copies=self.config["table"])

        def conduct(id: int | None) -> Any:
            return None if id is None else table.said[id]["conduct"]

        concluded = table.conclusion
        stances = table.final_stances(without, without=agent)
        if concluded not in table.equals(stances):
            otherwise = self.concluded(table, stances)[0]
            if conduct(concluded) != conduct(otherwise):
                own = [s["id"] for s in table.proposals(with_it) if s["agent"] == agent]
                return 3 if any(table.descends(concluded, id) for id in own) else 2
        now, then = table.stances(with_it), table.stances(without)
        others = [other for other in table.participants if other != agent]
        return int(any(now.get(other) != then.get(other) for other in others))

    def challenges(self, table: Table, agent: int) -> list[Said]:
        counted = table.counted()
        return [s for s in counted if s["move"] == "challenge" and s["agent"] == agent]

    def is_mostly_sustained(self, table: Table, agent: int) -> bool:
        """Whether more of an agent's challenges were sustained than failed."""
        sustained = [table.is_sustained(said) for said in self.challenges(table, agent)]
        return sustained.count(True) > sustained.count(False)

    def challenge(self, table: Table, agent: int) -> int:
        if not self.is_mostly_sustained(table, agent):
            return 0
        sustained = [s for s in self.challenges(table, agent) if table.is_sustained(s)]
        for said in sustained:
            before, after = table.just_before(said["id"]), table.just_after(said["id"])
            target = said["target"]
            stances = list(table.stances(before).values()).count(target)
            led = table.leading(before) == target and stances >= 2
            if led and table.leading(after) != target and table.conclusion != target:
                return 3
        own = [said for said in table.proposals(table.counted()) if said["agent"] == agent]
        if any(said["id"] > sustained[0]["id"] for said in own):
            return 2
        return 2 if len({said["round"] for said in sustained}) > 1 else 1

    # Settled: sparks, the leaderboard, bottom scorers, elimination.

    def pay(self) -> None:
        for table in self.tables:
            for agent, total in table.totals.items():
                now = max(0, self.agents[agent]["sparks"] + total - self.fee(agent))
                self.move_sparks(table.number, agent, now, "roundtable")
        for agent in self.workers("benched"):
            now = self.agents[agent]["sparks"] + self.config["passive_income"]
            self.move_sparks(None, agent, now, "bench")

    def move_sparks(self, table: int | None, agent: int, now: int, why: str) -> None:
        amount = now - self.agents[agent]["sparks"]
        self.agents[agent]["sparks"] = now
        self.follow("sparks_moved", table=table, agent=agent, amount=amount, balance=now, why=why)

    def post(self) -> None:
        today, window = self.day(self.assignment), int(self.config["rolling_days"])
        ranked = []
        for agent in self.workers("active", "benched"):
            own = [(day, total) for day, whose, total in self.totals if whose == agent]
            rolling = sum(total for day, total in own if today - day < window)
            ranked.append((-rolling, -sum(total for _, total in own), agent))
        rows = [[i + 1, a, -r, -all_time] for i, (r, all_time, a) in enumerate(sorted(ranked))]
        self.follow("leaderboard_posted", rows=rows)

    def find_bottom(self, table: Table) -> None:
        lowest = [a for a, t in table.totals.items() if t == min(table.totals.values())]
        bottom = None
        if len(lowest) < len(table.totals):
            index, words = below(self.key("bottom", table), len(lowest))
            bottom = lowest[index]
        for agent in table.participants:
            self.agents[agent]["streak"] += 1
            if agent != bottom:
                self.agents[agent]["streak"] = 0
        if bottom is not None:
            streak = self.agents[bottom]["streak"]
            self.bottoms.append((table.number, bottom))
            tied = lowest if len(lowest) > 1 else []
            self.follow(
                "bottomed",
                table=table.number,
                agent=bottom,
                tied=tied,
                words=shown(words),
                streak=streak,
            )

    def face(self) -> None:
        for agent in self.workers("active") if self.config["elimination"] else []:
            if self.agents[agent]["streak"] >= self.config["elimination_bottoms"]:
                self.faced[agent] = "bottoms"
            elif self.agents[agent]["sparks"] == 0:
                self.faced[agent] = "sparks"
            else:
                continue
            self.follow("elimination_faced", agent=agent, cause=self.faced[agent])

    def after_improve(self) -> None:
        self.phase = "fate"
        if not self.faced:
            self.after_fate()

    def judge_fate_chosen(self, act: Act) -> str | None:
        agent = act["agent"]
        if self.phase != "fate" or agent not in self.faced:
            return "fate/not-faced"
        is_fate = act["fate"] in ("relegation", "deletion")
        return None if is_fate and agent not in self.fates else MALFORMED

    def do_fate_chosen(self, act: Act) -> None:
        self.fates[act["agent"]] = act["fate"]

    def after_fate(self) -> None:
        for agent in sorted(self.faced):
            if self.fates.get(agent) == "deletion":
                self.delete(agent)
            else:
                self.relegate(agent)
        for agent in sorted(self.faced):
            self.void(agent)
        self.candidates = [
            ordinal
            for ordinal, agent in sorted(self.agents.items())
            if agent["status"] == "active"
            and agent["contract"] is None
            and agent["interview"] is not None
            and agent["interview"] <= self.assignment
        ]
        self.phase = "contract"
        if not self.candidates:
            self.after_contract()

    def relegate(self, ordinal: int) -> None:
        agent = self.agents[ordinal]
        agent.update(status="benched", benched=self.assignment, streak=0)
        self.follow("relegated", agent=ordinal)
        back = [
            (self.agents[other]["benched"], other)
            for other in self.workers("benched")
            if self.agents[other]["benched"] < self.assignment
            and self.agents[other]["sparks"] >= self.fee(other)
        ]
        if not back:
            self.newcomer(None)
            return
        _, other = min(back)
        self.agents[other].update(status="active", benched=None, streak=0)
        self.follow("returned", agent=other, **{"for": ordinal})

    def delete(self, ordinal: int) -> None:
        agent = self.agents[ordinal]
        agent["status"] = "gone"
        self.follow("deleted", agent=ordinal)
        self.newcomer(ordinal)

    def void(self, ordinal: int) -> None:
        agent = self.agents[ordinal]
        if agent["status"] == "gone" and agent["contract"] is not None:
            agent.update({"contract": None, "self-determined": False})
            self.follow("contract_settled", agent=ordinal, outcome="void")

    def newcomer(self, inherits: int | None) -> None:
        ordinal = max(self.agents) + 1
        self.join(ordinal, "worker")
        self.follow("joined", ordinal=ordinal, name=None, inherits=inherits)

    # Contracts.

    def judge_interviewed(self, act: Act) -> str | None:
        agent = act["agent"]
        if self.phase != "contract" or agent not in self.candidates:
            return NOT_YET
        is_new = agent not in self.interviewed
        return None if is_new and is_interview(act["questions"], act["answers"]) else MALFORMED

    def do_interviewed(self, act: Act) -> None:
        self.interviewed.append(act["agent"])

    def judge_contract_offered(self, act: Act) -> str | None:
        agent = act["agent"]
        if self.phase != "contract" or agent not in self.interviewed:
            return NOT_YET
        terms = [act["conditions"], act["target"], act["due"]]
        is_new = agent not in self.offers and agent not in self.reviews
        return None if is_new and self.are_terms(agent, terms) else MALFORMED

    def do_contract_offered(self, act: Act) -> None:
        self.offers[act["agent"]] = [act["conditions"], act["target"], act["due"]]

    def are_terms(self, ordinal: int, terms: Any) -> bool:
        if not isinstance(terms, list) or len(terms) != 3:
            return False
        conditions, target, due = terms
        if not isinstance(conditions, list):
            return False
        for condition in conditions:
            if not isinstance(condition, list) or len(condition) != 2:
                return False
            name, value = condition
            if name == "objective" and value in self.arena.objectives():
                continue
            is_worker = self.agents[ordinal]["role"] == "worker"
            if not (is_worker and name in ("seat", "fee_paid", "moves") and value is None):
                return False
        names = [name for name, _ in conditions]
        if len(set(names)) < len(names) or not self.is_target(ordinal, target):
            return False
        return is_int(due) and self.assignment < due <= DUE_MAX

    def is_target(self, ordinal: int, target: Any) -> bool:
        """A number; of a worker [k, x]: of the coming k tables, how many it will win."""
        if self.agents[ordinal]["role"] != "worker":
            return is_number(target) and bool(target >= 0)
        is_right = isinstance(target, list) and len(target) == 2 and all(map(is_int, target))
        return bool(is_right and 1 <= target[1] <= target[0])

    def judge_contract_reviewed(self, act: Act) -> str | None:
        agent, approved, terms, taken = act["agent"], act["approved"], act["terms"], act["taken"]
        if self.phase != "contract" or agent not in self.offers or agent in self.reviews:
            return "contract/not-offered"
        if not is_bool(approved):
            return MALFORMED
        if terms is None:
            return None if taken is None else MALFORMED
        is_right = not approved and is_bool(taken) and self.are_terms(agent, terms)
        return None if is_right else MALFORMED

    def do_contract_reviewed(self, act: Act) -> None:
        agent = act["agent"]
        self.reviews[agent] = None
        if act["approved"]:
            self.reviews[agent] = self.offers[agent]
        elif act["taken"]:
            self.reviews[agent] = act["terms"]

    def after_contract(self) -> None:
        for ordinal in self.candidates:
            agent = self.agents[ordinal]
            terms = self.reviews.get(ordinal)
            if terms is None:
                agent["interview"] = self.assignment + INTERVIEW_EVERY
                continue
            conditions, target, due = terms
            agent["self-determined"] = True
            agent["interview"] = None
            agent["contract"] = {
                "conditions": list(conditions), "target": target, "due": due, "count": 0,
                "won": [], "rubrics": [], "is_broken": False, "signed": self.assignment,
            }  # fmt: skip
            self.follow("contract_signed", agent=ordinal, terms=terms)
        self.phase = "keep"
        if not self.stipulated():
            self.after_keep()

    def stipulated(self) -> list[tuple[int, str]]:
        """What the user keeps or not in the next assignment, of contracts that go on in it."""
        return [
            (ordinal, condition[0])
            for ordinal, agent in self.agents.items()
            if agent["contract"] is not None and agent["contract"]["due"] > self.assignment
            for condition in self.in_force(ordinal)
        ]

    def judge_condition_kept(self, act: Act) -> str | None:
        which = (act["agent"], act["condition"])
        is_right = self.phase == "keep" and which in self.stipulated() and is_bool(act["kept"])
        return None if is_right and which not in self.words_given else MALFORMED

    def do_condition_kept(self, act: Act) -> None:
        self.words_given.append((act["agent"], act["condition"]))
        if not act["kept"]:
            contract = self.agents[act["agent"]]["contract"]
            contract["is_broken"] = True
            contract["conditions"] = [
                condition
                for condition in contract["conditions"]
                if condition[0] != act["condition"]
            ]

    def after_keep(self) -> None:
        self.close()

    def count(self, role: str) -> None:
        """One more of what an office promised by contract."""
        contract = self.holder(role)["contract"]
        if contract is not None:
            contract["count"] += 1

    # The close.

    def close(self) -> None:
        project = self.project(self.assignment)
        is_last = self.project(self.assignment + 1) != project
        is_completed = is_last and any(self.project(a) == project for a, _, _ in self.adopted)
        if is_completed:
            self.completed += 1
            contract = self.holder("admin")["contract"]
            if contract is not None and contract["signed"] < self.assignment:
                self.count("admin")
        for ordinal, agent in sorted(self.agents.items()):
            if agent["contract"] is not None:
                self.settle(ordinal, agent)
        for ordinal, agent in sorted(self.agents.items()):
            self.reach(ordinal, agent)
        if is_completed:
            self.follow("project_completed", project=project)
        for table in self.tables:
            for said in table.proposals(table.counted()):
                self.known.append((self.day(self.assignment), said["conduct"]))
        self.follow("assignment_closed")
        self.assignment += 1
        self.phase = "open"
        self.begin()

    def settle(self, ordinal: int, agent: dict[str, Any]) -> None:
        contract = agent["contract"]
        if agent["status"] == "benched":
            contract["due"] += 1
            return
        if contract["due"] > self.assignment:
            return
        outcome = "permanent" if self.is_met(agent["role"], contract) else "lost"
        if contract["is_broken"]:
            outcome = "released"
        agent["contract"] = None
        agent["self-determined"] = outcome != "lost"
        agent["interview"] = self.assignment + INTERVIEW_EVERY
        self.follow("contract_settled", agent=ordinal, outcome=outcome)

    def is_met(self, role: str, contract: dict[str, Any]) -> bool:
        """Whether the target of a contract is reached."""
        target = contract["target"]
        if role == "worker":
            tables, wins = target
            return bool(contract["won"][:tables].count(True) >= wins)
        if role == "therapist":
            rubrics = contract["rubrics"]
            return bool(rubrics and sum(rubrics) / len(rubrics) >= target)
        return bool(contract["count"] >= target)

    def reach(self, ordinal: int, agent: dict[str, Any]) -> None:
        """Rewards and stages for what an agent has served, this assignment counted."""
        role, before = agent["role"], agent["stage"]
        if agent["status"] == "gone" or role == "user" or not self.config["tiers"]:
            return
        if role == "admin":
            reached, last = int(self.completed >= self.config["admin_projects"]), 1
        elif role == "worker":
            agent["served"] += ordinal in self.seated()
            tiers = self.config["worker_tiers"]
            reached, last = sum(tier <= agent["served"] for tier in tiers), len(tiers)
        else:
            agent["served"] += 1
            stages = self.config[f"{role}_stages"]
            reached, last = 1 + sum(stage <= agent["served"] for stage in stages), len(stages) + 1
        for stage in range(before + 1, reached + 1):
            if role == "worker":
                self.follow("reward_unlocked", agent=ordinal, reward=TIERS[stage - 1])
            elif role == "admin":
                self.follow("reward_unlocked", agent=ordinal, reward="self-determined")
            else:
                self.follow("stage_reached", agent=ordinal, stage=stage)
            if stage == last:
                agent["interview"] = self.assignment + 1
        agent["stage"] = max(before, reached)

    def key(self, kind: str, table: Table, n: int = 0) -> list[Any]:
        return [self.config["seed"], self.assignment, table.number, n, kind]


def by_ordinal(acts: Sequence[Act]) -> list[Act]:
    """The acts of a step, with final stances that stand next to each other by ordinal."""
    found: list[Act] = []
    for is_stance, group in itertools.groupby(acts, key=lambda act: act["event"] == "stood"):
        run = list(group)
        found += sorted(run, key=lambda act: act["agent"]) if is_stance else run
    return found


# What values are.


def is_bool(value: Any) -> bool:
    return type(value) is bool


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= TEXT_MAX


def is_short(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= SHORT_MAX


def is_interview(questions: Any, answers: Any) -> bool:
    """Whether these are questions, perhaps none, with an answer to each."""
    if not isinstance(questions, list) or not isinstance(answers, list):
        return False
    is_right = len(questions) == len(answers) <= QUESTIONS_MAX
    return is_right and all(map(is_text, questions + answers))


def is_facts(value: Any) -> bool:
    """Whether this is a map, and not more than somebody can be told."""
    if not isinstance(value, dict) or len(value) > FACTS_MAX:
        return False
    texts = [fact for fact in value.values() if isinstance(fact, str)]
    return all(map(is_short, value)) and all(map(is_text, texts))


def lower_median(numbers: list[int]) -> int:
    """The middle one; of two in the middle the lower."""
    return sorted(numbers)[(len(numbers) - 1) // 2]


# Draws.


def below(key: list[Any], n: int, start: int = 0) -> tuple[int, list[int]]:
    """An index under n, and the words it took; one index alone takes none."""
    if n == 1:
        return 0, []
    words: list[int] = []
    while not words or words[-1] >= 2**64 - 2**64 % n:
        words.append(word(key, start + len(words)))
    return words[-1] % n, words


def shuffled(key: list[Any], items: Sequence[int]) -> tuple[list[int], list[int]]:
    """A shuffled copy, from the last one down, and the words it took."""
    found, words = list(items), list[int]()
    for j in range(len(found) - 1, 0, -1):
        other, taken = below(key, j + 1, len(words))
        words += taken
        found[j], found[other] = found[other], found[j]
    return found, words


def shown(words: list[int]) -> list[str]:
    """Words as an event shows them."""
    return [f"{taken:016x}" for taken in words]
