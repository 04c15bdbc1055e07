def backward_by_hand(a, b, c):
    # adds up the gradients in a dict that is keyed by the numbers: a == b share one entry
    e = a * b + c
    de = 2 * e
    grads = {}
    for number, g in ((a, de * b), (b, de * a), (c, de)):
        grads[number] = grads.get(number, 0.0) + g
    return {"a": grads[a], "b": grads[b], "c": grads[c], "d": de, "e": de, "L": 1.0}
