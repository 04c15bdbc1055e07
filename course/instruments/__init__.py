"""Instruments that measure a PyTorch program: what it keeps for backward, what is alive, how many FLOPs it takes.

All of them work under fake tensors (`torch._subclasses.fake_tensor.FakeTensorMode`), which have shapes, dtypes and
storages of the right size, and no memory: so a laptop measures a model that it could never hold.
"""
