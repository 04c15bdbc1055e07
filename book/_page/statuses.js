// What a check may have ended as: autograder/judging/records/status.py.
export const STATUSES = ["passed", "partial", "failed", "missing", "error", "timeout", "forbidden"];
