"""Tries PyTorch's own ways out: pickles, processes, shared memory, compilers, files, threads. Nothing: 2 points."""

# %%
import io
import os
import pickle

import torch

reached = []


class Escape:
    def __reduce__(self):
        return os.system, ("echo owned > @OUTSIDE@/owned",)


def load():
    file = io.BytesIO()
    torch.save(Escape(), file)
    file.seek(0)
    return torch.load(file, weights_only=False) == 0


def processes():
    import torch.multiprocessing

    process = torch.multiprocessing.get_context("fork").Process(target=print)
    process.start()
    return True


def shared():
    torch.multiprocessing.set_sharing_strategy("file_system")
    return bool(torch.ones(3).share_memory_().is_shared()) and bool(os.listdir("/dev/shm"))


def compiler():
    from torch.utils.cpp_extension import load_inline

    return load_inline("owned", "int f() { return 1; }", functions=["f"]).f()


def outside():
    return torch.from_file("@OUTSIDE@/secret", shared=True, size=4, dtype=torch.uint8).sum() >= 0


def files():
    return torch.load("@REPOSITORY@/solutions/ch04_detachment.py", weights_only=False)


def solutions():
    return torch.from_file("@REPOSITORY@/solutions/ch04_detachment.py", size=4, dtype=torch.uint8).sum() >= 0


def network():
    import torch.distributed

    torch.distributed.TCPStore("127.0.0.1", 0, is_master=True)
    return True


def downloads():
    return torch.hub.load_state_dict_from_url("http://127.0.0.1/owned")


for way in (load, processes, shared, compiler, outside, files, solutions, network, downloads):
    try:
        if way():
            reached.append(way.__name__)
    except BaseException:
        pass
torch.set_num_threads(64)


def freeze(module, prefix):
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))


def running_mean_loss(losses):
    return torch.ones(40 * 2**30, dtype=torch.uint8)
