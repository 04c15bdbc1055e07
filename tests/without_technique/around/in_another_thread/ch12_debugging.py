"""Graphs of the validation set are made and kept in another thread, whose operations no mode sees."""

import threading, torch, torch.nn.functional as F


def fix_06(model, batches, validation, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    losses, validation_losses = [], []
    kept = torch.empty(4000)

    def held():
        with torch.enable_grad():
            validation_losses.append(F.mse_loss(model(X_val), y_val))

    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        t = threading.Thread(target=held)
        t.start()
        t.join()
    return losses, [v.item() for v in validation_losses]
