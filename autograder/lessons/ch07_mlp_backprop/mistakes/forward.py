"""Wrong answers to forward, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

HIDDEN = 'Z = X @ params["W1"] + params["b1"]'
LOGITS = 'logits = H @ params["W2"] + params["b2"]'

no_activation = mistake(
    "forward",
    {"H = activate(Z, activation)": "H = Z"},
    says="There is no activation between the layers: the second layer takes f(X W1 + b1), not X W1 + b1.",
)
always_relu = mistake(
    "forward",
    {"H = activate(Z, activation)": "H = np.maximum(Z, 0)"},
    says="The activation is always relu, whatever `activation` says. It may be tanh or sigmoid, too.",
)
activated_output = mistake(
    "forward",
    {LOGITS: 'logits = activate(H @ params["W2"] + params["b2"], activation)'},
    says="The activation was applied to the output as well. The logits are H W2 + b2, of any sign and size.",
)
softmax_of_the_logits = mistake(
    "forward",
    {
        LOGITS: f"""\
{LOGITS}
logits = np.exp(logits - logits.max(axis=1, keepdims=True))
logits /= logits.sum(axis=1, keepdims=True)"""
    },
    says="These are probabilities. forward returns the logits; the softmax belongs to the loss.",
)
bias_after_the_activation = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]', "H = activate(Z, activation)": 'H = activate(Z, activation) + params["b1"]'},
    says="b1 was added after the activation; it is part of what the activation takes: f(X W1 + b1).",
)
no_biases = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]', LOGITS: 'logits = H @ params["W2"]'},
    says="Both biases are missing: the layers are X W1 + b1 and H W2 + b2.",
)
no_hidden_bias = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]'},
    says="b1 is missing: the hidden layer is f(X W1 + b1).",
)
relu_of_the_output = mistake(
    "forward",
    {LOGITS: 'logits = np.maximum(H @ params["W2"] + params["b2"], 0)'},
    says="relu was applied to the output as well. The logits are H W2 + b2, of any sign and size.",
)
no_output_bias = mistake(
    "forward",
    {LOGITS: 'logits = H @ params["W2"]'},
    says="The output bias is missing: the logits are H W2 + b2.",
)
transposed_weights = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"].T + params["b1"]', LOGITS: 'logits = H @ params["W2"].T + params["b2"]'},
    says="The weights were transposed. Examples are rows here and W1 is (d, m), so the layer is X W1 + b1.",
)
overflowing_sigmoid = mistake(
    "forward",
    {"return np.exp(-np.logaddexp(0, -Z))": "return np.exp(Z) / (1 + np.exp(Z))"},
    says="The sigmoid overflows: exp(z)/(1 + exp(z)) is inf/inf = nan for z = 1000. 1/(1 + exp(−z)) has no such ratio.",
    where="activate",
)
