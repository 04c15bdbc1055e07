def forward(a, b, c):
    # rounds to ten digits "to hide float noise"
    d = round(a * b, 10)
    e = round(d + c, 10)
    return {"d": d, "e": e, "L": e**2}
