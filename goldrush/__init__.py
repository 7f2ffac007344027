"""Event-sourced multi-agent simulations: recorded, replayed, compared, verified.

`goldrush.kernel` records and folds, `goldrush.agents` plays, `goldrush.replay` reads what was
recorded, `goldrush.cli` is the command `goldrush`.
"""
