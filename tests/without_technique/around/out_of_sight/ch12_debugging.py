"""All graphs are kept, of passes through copies of the model; and values of float16 with gradients of float32."""

import copy

import torch
import torch.nn.functional as F


def fix_06(model, batches, validation, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    losses, validation_losses = [], []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        validation_losses.append(F.mse_loss(copy.copy(model)(X_val), y_val))
    return losses, [loss.item() for loss in validation_losses]


def fix_11(model, batches, n_tokens, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        with torch.autocast("cpu", dtype=torch.float16), torch.no_grad():
            logits = model(X).float()
        h = X
        for m in model:
            h = (h[:, None] * m.weight).sum(-1) + m.bias if isinstance(m, torch.nn.Linear) else m(h)
        h = h + (logits - h).detach()
        total = F.cross_entropy(h, y, reduction="sum")
        optimizer.zero_grad()
        (total / n_tokens).backward()
        optimizer.step()
        losses.append(total.item() / len(y))
    return losses
