"""The message for answers that leave gradients switched off."""

from __future__ import annotations

OFF_FOR_GOOD = (
    "Gradients were switched off and never on again, for the whole program. `with torch.no_grad():` ends by itself."
)
