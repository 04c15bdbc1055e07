def neuron_gradients(w, x, b, y):
    # adds up the gradients in a dict that is keyed by the numbers: w == x share one entry
    g = 2 * (w * x + b - y)
    grads = {}
    for number, gradient in ((w, g * x), (x, g * w)):
        grads[number] = grads.get(number, 0.0) + gradient
    return {"w": grads[w], "x": grads[x], "b": g, "y": -g}
