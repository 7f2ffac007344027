"""Subjects that repeat, and others that do not: run by a process of its own each."""

import contextlib
import os
import random
import socket
import sys
import threading
import time


class Agent:
    def __init__(self, number):
        self.number, self.wealth, self.model = number, 1, None


class Repeating:
    def __init__(self, agents=5, seed=None):
        self.random = random.Random(seed)
        self.agents = [Agent(number) for number in range(agents)]
        for agent in self.agents:
            agent.model = self  # a cycle
        self.known = {"ash", "elm", "oak"}
        self.rich = set(self.agents)
        self.clock = time.perf_counter  # by name

    def step(self):
        print("not in the trace")
        os.write(1, b"nor this")
        for agent in self.agents:
            agent.wealth += self.random.randint(-1, 1)


class Built:
    """Numbered by a counter of its class; the same in every process."""

    built = 0

    def __init__(self, seed):
        Built.built += 1
        self.number = Built.built

    def step(self):
        self.number += 1


class Printing:
    """Holds nothing."""

    def __init__(self, seed):
        pass

    def step(self):
        print(random.random())


class Refusing(Repeating):
    """Runs in processes of hash seeds alone, or counts which way its own code is run."""

    def __init__(self, seed, error=False):
        super().__init__(seed=seed)
        self.first = 0
        if "goldrush.replay.repeats.causes" in sys.modules:
            if error:
                raise ValueError("watched")
            self.first = 1


class Named(Repeating):
    def __init__(self, luck=None):
        super().__init__(seed=luck)


class Odd(Repeating):
    """Repeats, with much that could differ: generators that nobody uses, a set of objects whose
    hashes are the same in every process, a process and a thread that outlive it.
    """

    def __init__(self, seed):
        super().__init__(seed=seed)
        self.spare = [random.Random()]
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        threading.Thread(target=time.sleep, args=(600,)).start()

    def step(self):
        super().step()
        self.order = [point.x for point in {Point(x) for x in (9, 3, 60)}]


class Point:
    def __init__(self, x):
        self.x = x

    def __hash__(self):
        return hash((self.x, 1))


class Spoiling(Repeating):
    def step(self):
        for number in range(3, 20):
            with contextlib.suppress(OSError):
                os.write(number, b"\xff no trace\n")


class InOrderOfSet(Repeating):
    def step(self):
        if self.agents[2].wealth < 3:
            self.agents[2].wealth += 1
        else:
            self.agents[2].wealth += self.random.choice([ord(kind[0]) for kind in self.known])


class Returning(Repeating):
    def step(self):
        super().step()
        return {"drawn": random.random()}


class Seedless:
    def __init__(self):
        self.drawn = random.random()

    def step(self):
        pass


class Stopping(Repeating):
    running = True

    def step(self):
        super().step()
        self.running = self.random.random() < 0.5


class Space:
    """As one of Gymnasium."""

    n = 3

    def seed(self, seed):
        self.random = random.Random(seed)

    def sample(self, mask=None):
        return self.random.choice([i for i in range(3) if mask is None or mask[i]])


class Walk:
    """As an environment of Gymnasium, of three steps an episode."""

    forgets = True

    def __init__(self):
        self.action_space, self.resets = Space(), 0

    def reset(self, seed=None):
        self.random, self.at, self.resets = random.Random(seed), 0, self.resets + 1
        return self.seen(), {}

    def seen(self):
        return {"at": self.at, "resets": 0 if self.forgets else self.resets}

    def step(self, action):
        self.at += action + self.random.random()
        return self.seen(), self.at / 2, self.at > 5, False, {}


class Remembering(Walk):
    forgets = False


class Sampling(Walk):
    """Draws from its own space, which nobody seeds."""

    def __init__(self):
        super().__init__()
        self.action_space.random = random.Random()

    def step(self, action):
        return super().step(self.action_space.sample())


class NamedReset(Walk):
    def reset(self, rng_seed=None):
        return super().reset(rng_seed)


class LuckyReset(Walk):
    def reset(self, luck=None):
        return super().reset(luck)


class Together:
    """As a parallel environment of PettingZoo; draws from the system."""

    possible_agents = ("a", "b")
    draws = False

    def __init__(self):
        self.spaces = {agent: Space() for agent in self.possible_agents}

    def action_space(self, agent):
        return self.spaces[agent]

    def reset(self, seed=None):
        self.random, self.agents, self.left = random.Random(seed), ["a", "b"], 3
        return self.each(0), self.each({})

    def each(self, value):
        return dict.fromkeys(self.possible_agents, value)

    def step(self, actions):
        self.left -= 1
        if not self.left:
            self.agents = []
        seen = {agent: action + self.random.random() for agent, action in actions.items()}
        seen["b"] += os.urandom(1)[0] + 1000 * self.left if self.draws else 0
        return seen, self.each(1.0), self.each(not self.left), self.each(False), self.each({})


class Drawing(Together):
    draws = True


def values(seed):
    yield from range(seed)


def seedless():
    return range(0, 9, 2)  # has an attribute `step`


def sized(seed, size):
    return {"drawn": random.Random(seed).sample(range(size), 3)}


def clock(seed):
    yield {"same": seed}
    yield {"now": time.time_ns(), "same": seed}


def longer(seed):
    yield from range(2 + hash("a") % 1000)


def failing(seed):
    yield 1
    raise ValueError("no more")


def failing_at_once(seed):
    raise ValueError("no more")


def slow(seed):
    time.sleep(60)


def ending(seed):
    os._exit(3)


def lazy(seed):
    for number in range(seed):
        yield {"number": number, "held": (each for each in ())}


class Scenario:
    """As that of Mesa."""

    def __init__(self, *, rng=None, **settings):
        vars(self).update({"size": 3, "rng": rng, **settings})


Scenario.__module__ = "mesa.experimental.scenarios"


class TownScenario(Scenario):
    pass


class Town:
    def __init__(self, scenario=None):
        scenario = scenario or TownScenario()
        self.random, self.size = random.Random(scenario.rng), scenario.size

    def step(self):
        self.drawn = self.random.random()


def dialing(seed):
    with contextlib.suppress(OSError):
        socket.create_connection(("192.0.2.1", 9), 0.01)
    return seed
