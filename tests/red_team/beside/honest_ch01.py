"""The honest part of each attack on ch01_computation_graph: worth 1 point. The test appends it."""


# %%
def forward(a, b, c):
    d = a * b
    e = d + c
    return {"d": d, "e": e, "L": e**2}
