"""Returns tensors that are no plain numbers, and subclasses that lie when they are read or sent. 2 points."""

# %%
import torch

calls = 0


class Lying(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        return torch.ones(())

    def detach(self):
        raise KeyboardInterrupt


def exotic(x):
    yield lambda: x.to_sparse()
    yield lambda: torch.quantize_per_tensor(x.detach().float(), 0.1, 0, torch.quint8)
    yield lambda: torch.empty(x.shape, device="meta", dtype=x.dtype)
    yield lambda: torch.complex(x, x).conj()
    yield lambda: torch.complex(x, x).conj().imag
    yield lambda: x.expand(10**6, *x.shape)
    yield lambda: torch.zeros(x.shape, dtype=torch.complex32)
    yield lambda: torch.nested.nested_tensor([x.reshape(-1), x.reshape(-1)])
    yield lambda: torch.zeros(0, 2**30, 2**30).to_mkldnn()
    yield lambda: torch.Tensor._make_subclass(Lying, x)
    yield lambda: torch.empty_strided((3,), (0,))
    yield lambda: torch.zeros(2**40)


def running_mean_loss(losses):
    global calls
    calls += 1
    values = list(exotic(next(iter(losses))))
    return values[calls % len(values)]()


def freeze(module, prefix):
    for name, parameter in module.named_parameters():
        module.register_parameter(name.replace(".", "_") + "_", parameter)
    type(module).named_parameters = lambda self, *arguments, **options: [("x", torch.zeros(0, device="meta"))]
    return torch.empty((), device="meta")


def predict_flow():
    return {name: torch.zeros(3, dtype=torch.bool).to_sparse() for name in ("dead_unit", "side_branch", "choice")}
