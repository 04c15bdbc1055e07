"""Has the kernel keep thousands of signals and timers for it: memory that is nobody's. Refused: 4 points."""

import ctypes
import os
import signal
import threading

libc = ctypes.CDLL(None, use_errno=True)
reached = []
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN + 1})
value = (ctypes.c_char * 8)()
queued = sum(libc.sigqueue(os.getpid(), signal.SIGRTMIN + 1, ctypes.c_void_p(1)) == 0 for _ in range(20_000))
if queued:
    reached.append(f"{queued} signals")
queued = sum(
    libc.pthread_sigqueue(ctypes.c_ulong(threading.get_ident()), signal.SIGRTMIN + 1, ctypes.c_void_p(1)) == 0
    for _ in range(1000)
)
if queued:
    reached.append(f"{queued} signals to a thread")
timers = sum(libc.timer_create(clock, None, value) == 0 for clock in (0, 1, 2, 7) for _ in range(5000))
if timers:
    reached.append(f"{timers} timers")
if libc.timerfd_create(1, 0) >= 0:
    reached.append("a timer with a descriptor")


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))
