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
    ExitStatus.DONE: "Success.",
    ExitStatus.FAILED: "`grade`: a submission could not be graded, a result could not be written or taken over, or a "
    "result is another class folder's. `check`: an exercise does not pass. `memory`: the training does not fit. "
    "`build`: the course has errors. `report`: the reader of a pipe has stopped. `new`, `release`, `reset`, "
    "`solution`: not possible; one line says why.",
    ExitStatus.REFUSED: "The arguments are wrong, or a file cannot be read or written; one line says what to do. "
    "`report`: one of several formats could not be made; the others were.",
    ExitStatus.NOT_RECOGNISED: "`grade`: a file that was handed in is not a lesson's, and was not graded.",
    ExitStatus.INTERRUPTED: "Ctrl-C. Results so far are kept, and the same command continues from there.",
}
