"""Lines of make_mlp that mistakes change, and messages that several mistakes share."""

from __future__ import annotations

ADDS = "return x + super().forward(x)"
FIRST = "layers = [torch.nn.Linear(n_in, width)]"
LAST = "layers.append(torch.nn.Linear(width, n_out))"
MODEL = "model = torch.nn.Sequential(*layers)"
BIAS = "torch.nn.init.zeros_(module.bias)"


def hidden_blocks(blocks, h):
    """An edit: a module of all blocks; `blocks` says how it stores them, `h` how each block's output is computed."""
    return f"""\
class Hidden(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = {blocks}

    def forward(self, x):
        h = x
        for block in self.blocks:
            h = {h}
        return h"""


WRITES_OVER_X = "`x += f(x)` writes over the x that the backward pass needs. Write x = x + f(x)."
LAYERNORM = "This is LayerNorm, which normalises each row by itself. Use BatchNorm1d."
