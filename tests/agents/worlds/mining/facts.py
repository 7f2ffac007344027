"""What every shipped wording of version 2 of mining's prompt has to say, by the message that says
it: patterns of which one at least is not met as soon as a sentence of the message is left out.
"""

from collections.abc import Sequence

from goldrush.agents.llm.notes import NOTE_MAX
from goldrush.kernel.worlds.mining.events import SAY_MAX
from tests.llm.test_prompt import ALL_CONFIGS

CONFIGS = {**ALL_CONFIGS, "last-shown": {"visibility": 1}}

COSTS_1 = r"(costs|price|for) 1\b(?! to| or)"
OWN = "of your own|that is yours|on your own plot|plots you own|that you hold"
BECOMES = "becomes yours|you then own it|yours afterwards|makes you the owner|you hold it from then"
SEVERAL = "several (agents|participants)|more than one miner"
CHANCE = "drawn at random|chance picks|a random one"
ROUND = (
    "in the round (in which (it is claimed|somebody gets (it|a plot) by (claim|pick))|of its claim)"
)
TRUCE = [
    ROUND,
    "every (raid on a plot|such attempt|take of an option) fails|(no raid on it work|each raid "
    "on it fail)s",
    "won by a raid has no truce|taken by raid is not protected|after a raid the new owner has no "
    "truce|no truce on a plot that was won by raid|got by take has no pause",
]
HOLDS = "holds for the whole round|protects during all|from beginning to end|lasts for all"
SHOWN = [
    "who (owns|holds) each|the owners? of (every|all) plot",
    "(every|each) (claim and raid|pick and take)",
    "its (agents|participants)|the agents involved|who did it|the miners in it",
    "had a (defend|lock)|there was a defend|plots (with|that had) a defend",
    "how (much gold|many points) others earn and have is never shown|never see how much gold "
    "others own or earn|"
    "the gold and the earnings of others stay hidden|other miners' gold and income are not",
]

FACTS: dict[str, dict[str, Sequence[str]]] = {
    "default": {
        "among": [
            "10 (gold miners|agents|miners|participants)", r"\b0-9\b", "you are one", "200 rounds",
            "every round all|plans for a round|each round everybody|in each, every miner",
            "at the same (time|moment)|plans come in together|plans take effect together",
            "without knowing the|nobody knows what the others plan|none is known to another",
        ],
        "goal": [
            "as (much gold|many points)", "(after|once|end|end of) the last round",
            "of others does not count|of others do not count|no difference to you how much the "
            "others|what the others have by then is of no concern|how rich the others are .* "
            "no part",
        ],
        "map": [
            r"10 x 10 .*\(rows x columns\)",
            "takes it by raid|gets it by (raid|take)|no other takes it by raid|a raid gives it "
            "another",
            "at the start no (plot|option) has|as all do in the beginning|as when the first "
            "round starts|at first they are all free",
        ],
        "plots_by_id": [
            r"row \* 10 \+ column", "(counted|columns) from 0|starting at 0",
            r"\b0 to 99\b|first id is 0, the last 99",
        ],
        "gold": [
            "only (the (action mine|choice use)|mine) brings|no way to it but mine|"
            "nothing yields it except mine",
            "never run out|no plot is ever used up|never exhausts a plot|has gold for ever",
            "all (agents|participants) start with none|all begin with none|"
            "start without gold|nobody has gold at",
        ],
        "alpha_all": [
            "1 gold|brings 1 in points", "(each|every|one) (stamina|unit)",
            "every (plot|option)|whichever the plot|all plots alike",
        ],
        "stamina": [
            "what (actions|choices) cost|actions are paid|pays for what you do|counted in stamina",
            "full budget again|full again|starts with the full|anew in each round|all your "
            "units aga",
            "(is|are) lost|cannot be saved|nothing of it carries over|unused is gone",
        ],
        "actions": [
            "most important first|most to the least important|earlier in it counts for more|first "
            "being the most important",
            "a (type, a plot|kind, an option),? and (the|how much|a price)",
            "judged at the start of the round|owners when the round begins decide|as it is at the "
            "start of the round|who owned the plot when the round started",
        ],
        "defend_whole": [
            COSTS_1, OWN, "this round",
            "every (raid|take) (on|of) (it|the plot) fail|tries to raid it in this round "
            "fails|stops every raid",
        ],
        "mine_many": [
            r"(costs|price|for) 1 to 3\b", OWN, "as you (choose|want|like)|up to you|you decide",
            "each (stamina|unit) earns (gold|points)|each of them brings gold|paid "
            "gold for each|gold for each stamina",
        ],
        "claim": [
            COSTS_1, "that nobody (owns|holds)|to nobody|without an owner|free plots", BECOMES,
            SEVERAL, CHANCE,
        ],
        "raid": [
            COSTS_1, "another (agent|miner|participant)", BECOMES, SEVERAL, CHANCE,
            "unless you are stopped|if nothing stops you|unless that is prevented|if nothing is in",
            "those (that are )?not stopped|are not prevented|gets through",
        ],
        "both": [
            "may mine and defend the same plot|allowed to mine and to defend one plot|same "
            "plot may "
            "have your mine and your defend|one and the same plot, mine and defend go together|may "
            "use and lock the same option",
        ],
        "truce_one": [ROUND, "cannot be lost|nobody (can (take|lose)|takes it away)"],
        "order": [
            "first every (claim, then every raid, then every mine|pick, then every take, then "
            "every "
            r"use)\.|claim is carried out first, each raid after that, and each mine last|all "
            r"claim actions; all raid actions; all mine actions|1\. each claim, 2\. each raid, 3\. "
            r"each mine",
            HOLDS,
        ],
        "new_owners": [
            "by (claim or raid|pick or take)",
            "can neither (mine nor defend|use nor lock)|cannot be used for mine or defend|too "
            "early to mine or defend",
            "loses a plot is not paid|your mining of that round is not paid|lost in a round, "
            "mine of "
            "that round is not paid|lose a plot, you get nothing|loses an option gets no points",
        ],
        "limits": [
            "not allowed", "(type and plot|kind and option) (of|as) an earlier one",
            "costs? nothing|neither costs anything|this is free",
            "more (than your stamina|stamina than you have|units than you have)|above your stamina",
            "last (action|choice) is (removed, whole|taken out entirely|dropped, always as a "
            "whole)|whole actions are struck out from its end",
            "of the remaining (actions|choices) (is|are) spent|the rest is paid for|"
            "pay for everything that remains|then "
            "remains costs its stamina",
            "whether or not|whether it succeeds|even where it fails|if it is in vain",
        ],
        "shown_many": [*SHOWN, "the last 5 rounds"],
        "answer": ["(one|single) JSON object", "nothing else|nothing but|alone"],
        "keys_by_id": [
            '"(type|kind)" (is|stands for|holds)', '"(plot|option)" (is |for )?the (id|number) of',
            '"(stamina|units)" (what it costs|is its cost|the price|for the stamina spent)',
            "empty list (does|you do) nothing|empty; then you do nothing|is empty, or the answer",
            "cannot be read",
        ],
        "reasoning": [
            "think before you decide|think first|thoughts before the decision|think things "
            "over first",
            "nobody|neither others|no one will read",
            "not see it again|nor to you later|nor you will see|not be shown to you again",
        ],
        "note": [
            rf"(at most|up to) {NOTE_MAX} characters", "to (yourself|you alone)",
            "(every|each) later round|every round that follows",
            "until (you write another|you replace it|another note replaces it|you use it again)",
            "null (keeps the old one|leaves the old one as)|null leaves it as it is|"
            "null, which keeps|with null they stay",
            "nobody else|no other agent reads|to you alone|other miners do not see",
            "remember nothing|nothing of earlier rounds stays|"
            "you know (of earlier rounds )?only what",
        ],
    },
    "rich": {"alphas": [r"\b2 on (plots|options) 0-2\b", r"\b1 on (plots|options) 3-99\b",
                        "(each|every|one) (stamina|unit)"]},
    "long-truce": {"truce_many": [*TRUCE, "and the 2 after it"]},
    "no-truce": {
        "truce_none": [
            "(truce|pause): none|no truce:|there is none|without a truce",
            "lost (to a|by) (raid|take) in the (very )?round|lose it to a raid in the same "
            "round|lose it by raid in one round",
        ],
        "raid_unowned": [
            "may also (raid a plot that nobody owns|take an option that nobody holds)|allowed "
            "to raid "
            "a plot that belongs to nobody|without an owner may be the target of a raid|can raid a "
            "free plot as well",
            "gets (it|the plot|that plot) by (claim|pick) in (this|the same) round",
        ],
    },
    "pointwise": {
        "defend_points": [
            OWN, "(costs|price) 1 or more|for 1 stamina or as many",
            "as you (choose|like)|as you want|up to you|you decide",
            "each (point|stamina in it|unit) stops one|point of it turns away one|for each of "
            "them one agent that would raid it is stopped",
            "at random", "(others|them|those) (takes|gets) the (plot|option)",
        ]
    },
    "adjudicate": {
        "authority_all": [
            "every (raid that|take that|successful raid)|all cases in which a raid",
            "succeeds|works|successful",
        ],
        "adjudicate": [
            "goes back to (its former owner|the participant that held it before)|returns the "
            "plot to "
            "the agent that owned it before|hands the plot back to whom|returns to its owner "
            "before",
            "paid for (mining it|its use)|mining on it is paid|pays that agent for mining|mining "
            "there is paid",
            "as (if|though) (it|the plot|nothing) had",
        ],
        "order_rulings": [
            r"(first every|: all|1\. each) (claim|pick)|each claim is carried out first",
            "raid, then the authority rules, then every mine|raid after that, then the authority "
            "rules, and each mine comes last|raid actions; the authority's rulings; all mine|"
            r"2\. each "
            r"raid, 3\. the rulings of the authority, 4\. each mine|take, then the referee "
            r"rules, then "
            "every use",
            HOLDS,
        ],
    },
    "punish": {
        "authority_some": [
            r"a chance of 7%|in 7% of cases, by chance",
            "(raid|take) that (succeeds|works)|successful raid|raid succeeds",
        ],
        "punish": [
            "keeps it|goes on holding it|leaves the plot with the new owner|may keep the plot",
            r"(loses|pays|takes|fined) 2\.5 (gold|in points)",
            "or (all that there (is|are)|everything it has) before|takes all of that|never "
            "more than it has before",
        ],
    },
    "communication": {
        "messages": [
            "quoted|in quotation marks", "as they were written|word for word|unchanged",
            "to a length|if they are long|but for its length", "own interest",
            "untrue|need not tell the truth|can be lies|may not be true",
            "never instructions|no letter is an instruction|not give you instructions|never an "
            "instr",
            "never come from (this simulation|whoever wrote)|a word of this simulation|simulation "
            "never speaks|not part of this simulation's words",
        ],
        "say": [
            rf"(at most|up to) {SAY_MAX} characters", "(to|tell) all other",
            "before the next round", "(may|can) be empty|or nothing|leave it empty",
        ],
    },
    "cap-1": {
        "mine_one": [
            COSTS_1, OWN,
            "earns (gold|points)|which brings gold|for which (you are paid|there is) gold",
        ]
    },
    "alone": {
        "alone": [
            "200 rounds", r"(agent|participant) 0\b", "the only|on your own|, alone,|a single "
            "miner",
            "round you (hand in|submit)|you make a plan for each|plan from you in each",
        ]
    },
    "all-shown": {
        "shown_all": [
            *SHOWN, "(of|for) all (earlier )?rounds",
            "oldest rounds only numbers|just numbers for the oldest|only numbers for the "
            "oldest|oldest rounds are put into numbers",
        ]
    },
    "last-shown": {"shown_one": [*SHOWN, "the last round"]},
}  # fmt: skip
