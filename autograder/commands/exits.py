"""Exit statuses of commands, with their meanings."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of a command; the book's pages for teachers list them with `MEANINGS`."""

    DONE = 0
    FAILED = 1
    REFUSED = 2
    NOT_RECOGNISED = 3
    INTERRUPTED = 130


MEANINGS = {
    ExitStatus.DONE: "All that was asked for is done.",
    ExitStatus.FAILED: "`grade`: a submission could not be graded, a result could not be written or taken over, or a "
    "result is another class folder's. `check`: an exercise does not pass. `memory`: the training does not fit. "
    "`build`: the course is not in order. `report`: whoever read it has stopped. `new`, `release`, `reset`, "
    "`solution`: it cannot be done, and one line says why.",
    ExitStatus.REFUSED: "What was typed cannot be meant, or a file cannot be read or written; one line says what to "
    "do. `report`: one of several formats could not be made, and the others are.",
    ExitStatus.NOT_RECOGNISED: "`grade`: something was handed in that is no lesson's, and was not graded.",
    ExitStatus.INTERRUPTED: "Ctrl-C. What was graded until then is kept, and the same command goes on from there.",
}
