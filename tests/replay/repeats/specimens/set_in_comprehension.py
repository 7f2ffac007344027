class Model:
    def __init__(self, seed):
        towns = frozenset(["Ada", "Bern", "Cork", "Delft", "Essen", "Fez"])
        self.number = dict.fromkeys(sorted(towns), seed)
        self.queue = [
            town.lower()
            for town in towns  # cause: set-order
            if town
        ]

    def step(self):
        self.number[self.queue[0].title()] += 1
