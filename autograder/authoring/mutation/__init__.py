"""The checks of a lesson, tested by mutation: its reference is changed in one place at a time, and a check must notice.

A change that all checks accept, a *survivor*, is either a hole in the checks or equivalent: no input that the
exercise's contract allows tells it from the reference. Those that were proved equivalent are listed, each with its
proof, in the lesson's `equivalents.toml`; any other survivor is an error, and so is an entry that is out of date.

What is mutated is the reference: what stands between `### BEGIN SOLUTION` and `### END SOLUTION`, and the helpers in
cells tagged `solution`. Not mutated, because the change would be equivalent by its nature: docstrings and annotations,
what an exception says, other strings (names and keys), and `strict=` of `zip`, which only guards.

Libraries for this (mutmut, cosmic-ray, mutatest) change a file and start a test command for each mutant: two seconds
each here, where a fork of a warm judge takes two hundredths. Their operators know no axes, transposes, `keepdims` or
tuples, which is where backward rules go wrong. So the operators are ours.
"""
