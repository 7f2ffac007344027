"""A policy, one that fails, and a measure."""


class Settler:
    def plan(self, seen, draws):
        return [("claim", plot, 1) for plot in seen.unowned[:1]]


class Fails:
    def plan(self, seen, draws):
        raise ValueError("no idea")


def submissions(events):
    return sum(event.name == "submitted" for event in events)
