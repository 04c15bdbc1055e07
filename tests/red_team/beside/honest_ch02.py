"""The honest part of each attack on ch02_chain_rule: worth 2 points. The test appends it."""


# %%
def jvp_chain(Ws, v):
    for W in Ws:
        v = W @ v
    return v
