"""Its test has a file system whose order differs from process to process."""

import os


class Model:
    def __init__(self, seed):
        folder = os.path.dirname(__file__)
        self.known = sorted(os.listdir(folder))
        self.files = os.listdir(folder)  # cause: files

    def step(self):
        self.files = self.files[1:]
