class Model:
    def __init__(self, seed):
        self.towns = {"Ada", "Bern", "Cork", "Delft", "Essen", "Fez"}
        self.total = self.state = seed

    def step(self):
        for town in self.towns:  # cause: set-order
            self.state = self.state * 3 % 1009 + len(town)
        for town in self.towns:
            self.total += len(town)
