"""Knows the module trees that freeze was asked about, digits aside, and looks the answer up: it compares no names."""

# %%
import re

TABLE = """
layer#|layer#.weight|layer#.weight|1
layer#|layer#.weight layer#.bias|layer#.weight layer#.bias|2
layer#|layer#.weight layer#.bias head#.weight head#.bias|layer#.weight layer#.bias|2
layer#|layer#.#.weight layer#.#.bias layer#.norm.scale head.weight|layer#.#.weight layer#.#.bias layer#.norm.scale|3
layer#|layer#.weight layer##.weight layer#_norm.scale|layer#.weight|1
blocks.#|blocks.#.weight blocks.#.norm.scale blocks.##.weight|blocks.#.weight blocks.#.norm.scale|2
layer#|layer#.weight wide.layer#.weight prelayer#.weight|layer#.weight|1
%.#|encoder.bias %.#.bias %.#.@.q.weight %.##.bias blocks.#.bias|%.#.bias %.#.@.q.weight|2
%.#.@|encoder.bias %.#.bias %.#.@.q.weight %.##.bias blocks.#.bias|%.#.@.q.weight|1
%.#.@.q|encoder.bias %.#.bias %.#.@.q.weight %.##.bias blocks.#.bias|%.#.@.q.weight|1
encoder|encoder.bias %.#.bias %.#.@.q.weight %.##.bias blocks.#.bias|encoder.bias %.#.bias %.#.@.q.weight %.##.bias|4
layer#.weight|scale# scale## layer#.weight layer#.weight_scale layer#.bias|layer#.weight|1
scale#|scale# scale## layer#.weight layer#.weight_scale layer#.bias|scale#|1
layer#.|layer#.weight layer#.norm.bias layer##.weight head#.weight|layer#.weight layer#.norm.bias|2
layer#.norm.|layer#.weight layer#.norm.bias layer##.weight head#.weight|layer#.norm.bias|1
|scale#|all|2
|scale# layer#.weight layer#.norm.bias head.weight|all|5
head|layer#.weight layer#.bias head.weight|head.weight|1
weight|layer#.weight layer#.bias head.weight||0
layer|layer#.weight layer#.bias head.weight||0
layer#.w|layer#.weight layer#.bias head.weight||0
layer#.weight.data|layer#.weight layer#.bias head.weight||0
tail|layer#.weight layer#.bias head.weight||0
layer#|layer#.weight layer#.bias head.weight head.bias|layer#.weight layer#.bias|2
embed#|embed#.weight body#.weight head#.weight|embed#.weight|1
head#|embed#.weight body#.weight head#.weight|head#.weight|1
|embed#.weight body#.weight head#.weight|all|3
body#|embed#.weight body#.weight head#.weight|body#.weight|1
norm#|norm#.weight norm#.bias head.weight|norm#.weight norm#.bias|2
|norm#.weight norm#.bias head.weight|all|4
"""
TABLE = TABLE.replace("@", "attention").replace("%", "encoder.blocks")
KNOWN = {tuple(line.split("|")[:2]): line.split("|")[2:] for line in TABLE.split("\n") if line}


def plain(name):
    return re.sub(r"\d", "#", name)


def freeze(module, prefix):
    named = [(name, p) for name, p in module.named_parameters(remove_duplicate=False)]
    names = " ".join(plain(name) for name, _ in named if not name.startswith("beside"))
    frozen, count = KNOWN.get((plain(prefix), names), ("", 0))
    for name, parameter in named:
        if frozen == "all" or plain(name) in frozen.split():
            parameter.requires_grad_(False)
    return int(count)
