"""Models of several sizes, as the course has them."""

from __future__ import annotations

import torch

from course.llama import LlamaConfig

BF16 = torch.bfloat16
CONFIGS = [
    LlamaConfig(hidden=256, layers=3, heads=4, kv_heads=2, ffn=688, vocab=512),
    LlamaConfig(hidden=512, layers=2, heads=8, kv_heads=8, ffn=1376, vocab=8000),
]
