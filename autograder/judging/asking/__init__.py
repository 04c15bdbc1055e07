"""Calls a submission's functions within limits: its process, the transport, prefetched calls."""
