"""A published society: llm-society 0.3.3 of PyPI, a spread of information by conversation.

Nothing of it is changed: it makes its own clients, and draws by a seed.
"""

from llm_society.config import load_config
from llm_society.simulation import iterate_simulation

CONFIG = {
    "model": "m", "n": 4, "edge_mean_degree": 2, "rounds": 4, "depth": 0.5, "max_convo_turns": 2,
    "edge_sample_frac": 0.7, "information": "The mine is empty.", "talk_information_prob": 0.9,
    "rng_seed": 5, "memory_turns_per_agent": 3, "print_conversations": True,
}  # fmt: skip
for number, state in enumerate(iterate_simulation(load_config(CONFIG))):
    print(number, sorted(state), state.get("scores"))
