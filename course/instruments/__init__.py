"""Instruments for PyTorch programs: they measure tensors saved for backward, live storages, and FLOPs.

All of them work with fake tensors (`torch._subclasses.fake_tensor.FakeTensorMode`), which have shapes, dtypes and
storage sizes but no memory. So a laptop can measure a model that does not fit into it.
"""
