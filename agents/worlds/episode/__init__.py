"""How the agents of an episode are chosen and asked."""
