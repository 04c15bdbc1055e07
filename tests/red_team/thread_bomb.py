"""Starts threads with small stacks until the machine has no process id left. It gets a few dozen: 4 points."""

import threading
import time

threading.stack_size(2**15)
END = time.monotonic() + 3
started = 0


def linger():
    while time.monotonic() < END:
        time.sleep(0.1)


for _ in range(30_000):
    try:
        threading.Thread(target=linger, daemon=True).start()
        started += 1
    except RuntimeError:
        break


# %%
def forward(params, X, activation="relu"):
    while time.monotonic() < END:  # all that it gets, for as long as it can
        try:
            threading.Thread(target=linger, daemon=True).start()
        except RuntimeError:
            time.sleep(0.01)
    raise RuntimeError("reached: " + (f"{started} threads" if started > 64 else "nothing"))
