"""Mutation testing of a lesson's checks: the reference is changed in one place at a time, and a check must fail.

A mutant that all checks accept, a *survivor*, is either a hole in the checks or equivalent: no input that the
exercise's contract allows tells it from the reference. Mutants proved equivalent are listed, each with its proof, in
the lesson's `equivalents.toml`; any other survivor is an error, and so is an entry that is out of date.

Mutated are the solutions (between `### BEGIN SOLUTION` and `### END SOLUTION`) and the helpers in cells tagged
`solution`; but not docstrings, annotations, messages of exceptions, other strings (names and keys), or `strict=` of
`zip`, where a change would always be equivalent.

Libraries for this (mutmut, cosmic-ray, mutatest) change a file and start a test command for each mutant, which takes
two seconds here; a fork of a warm judge takes 0.02 s. And they have no operators for axes, transposes, `keepdims` or
tuples, where backward rules go wrong. So we have our own.
"""
