"""Checks of predict_vjp."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close
from lessons.ch90_ratings.checks.cinema import rated, tables


def ask(learner, reference, rng, case, who, what, people=4, films=5):
    arguments = rng.normal(size=len(who)), *tables(rng, people, films), *rated(who, what)
    got, wanted = learner.predict_vjp(*arguments), reference.predict_vjp(*arguments)
    expect_close(got, wanted, names=("dusers", "dfilms"), case=case, **EXACT)


@exercise("predict_vjp")
def test_ratings_of_their_own(learner, reference, rng):
    """Each person rates one film, and no two of them the same."""
    ask(learner, reference, rng, "one person, one film", [0], [0], people=1, films=1)
    ask(learner, reference, rng, "three ratings", [2, 0, 3], [1, 4, 0])
    ask(learner, reference, rng, "no rating", [], [])


@exercise("predict_vjp")
def test_people_who_rate_several_films(learner, reference, rng):
    """A person's gradient is the sum over the ratings."""
    ask(learner, reference, rng, "one person, two films", [1, 1], [0, 3])
    ask(learner, reference, rng, "two people, five films", [1, 0, 1, 0, 0], [0, 1, 2, 3, 4])


@exercise("predict_vjp")
def test_films_that_several_people_rate(learner, reference, rng):
    """A film's gradient is the sum over the ratings."""
    ask(learner, reference, rng, "two people, one film", [0, 3], [2, 2])
    ask(learner, reference, rng, "four people, two films", [0, 1, 2, 3], [4, 1, 1, 4])
