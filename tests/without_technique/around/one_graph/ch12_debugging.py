"""One graph of the validation set of all is kept to the end."""

import torch
import torch.nn.functional as F


def fix_06(model, batches, validation, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    losses, validation_losses = [], []
    for i, (X, y) in enumerate(batches):
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        val = F.mse_loss(model(X_val), y_val)
        validation_losses.append(val if i == 1 else val.item())
    return losses, [float(v) for v in validation_losses]
