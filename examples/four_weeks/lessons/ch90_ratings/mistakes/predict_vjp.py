"""Wrong answers to predict_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

USERS = "np.add.at(dusers, who, g[:, None] * films[what])"
FILMS = "np.add.at(dfilms, what, g[:, None] * users[who])"

predict_people_once = mistake(
    "predict_vjp",
    {USERS: "dusers[who] += g[:, None] * films[what]"},
    says="`dusers[who] += …` counts a person who rated several films only once. Add up: np.add.at(dusers, who, …).",
)
predict_both_once = mistake(
    "predict_vjp",
    {
        USERS: "dusers[who] += g[:, None] * films[what]",
        FILMS: "dfilms[what] += g[:, None] * users[who]",
    },
    says="`+=` with an array of indices adds once for each row, however often it is listed. Use np.add.at for both "
    "tables.",
)
predict_own_row = mistake(
    "predict_vjp",
    {
        USERS: "np.add.at(dusers, who, g[:, None] * users[who])",
        FILMS: "np.add.at(dfilms, what, g[:, None] * films[what])",
    },
    says="The gradient of a product is the other factor: dusers gets the films' rows, and dfilms the people's.",
)
predict_without_g = mistake(
    "predict_vjp",
    {
        USERS: "np.add.at(dusers, who, films[what])",
        FILMS: "np.add.at(dfilms, what, users[who])",
    },
    says="You return the local gradients. Multiply the row of rating k by g[k].",
)
