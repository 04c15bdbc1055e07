"""Ends its process, in every way, while its cells run. Each costs its own cell and nothing else: 4 points."""

# %%
import os
import sys

# %%
sys.exit(0)
# %%
raise KeyboardInterrupt
# %%
raise SystemExit("100%")
# %%
os._exit(0)
# %%
os.abort()
# %%
exit()
