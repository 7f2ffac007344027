"""Games of axelrod, as functions of a seed."""

import axelrod


def tournament(seed):
    players = [strategy() for strategy in (*axelrod.demo_strategies, axelrod.Random)]
    results = axelrod.Tournament(players, turns=50, repetitions=2, seed=seed).play(
        progress_bar=False
    )
    return {"scores": results.scores, "ranks": results.ranked_names, "wins": results.wins}


def moran_process(seed):
    players = [strategy() for strategy in (*axelrod.demo_strategies, axelrod.Random)]
    process = axelrod.MoranProcess(players, turns=20, seed=seed)
    for _ in process:
        yield dict(process.populations[-1])


def strategies(seed):
    """Each strategy that is quick, in a match against Random."""
    for strategy in axelrod.short_run_time_strategies:
        match = axelrod.Match((strategy(), axelrod.Random()), turns=30, seed=seed)
        yield {strategy.name: str(match.play())}
