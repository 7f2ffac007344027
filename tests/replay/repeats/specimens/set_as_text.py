class Model:
    def __init__(self, seed):
        self.state = seed
        self.tags = {"red", "green", "blue", "white"}
        self.left, *self.others = self.tags  # cause: set-order
        self.shown = f"tags: {self.tags}"  # cause: set-order

    def step(self):
        self.state += 1
