"""Epidemics of the models of the Institute for Disease Modeling, as functions of a seed."""


def covasim_sim(seed):
    import covasim

    sim = covasim.Sim(pop_size=500, rand_seed=seed, verbose=0)
    return _columns(sim.run().to_df())


def starsim_sir(seed):
    import starsim

    sim = starsim.Sim(n_agents=500, diseases="sir", networks="random", rand_seed=seed, verbose=0)
    return _columns(sim.run().to_df())


def _columns(table):
    return {column: table[column].to_numpy() for column in table}
