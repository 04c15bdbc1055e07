// The statuses of a check, as in autograder/judging/records/status.py.
export const STATUSES = ["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"];
