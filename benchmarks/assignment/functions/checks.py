"""The checks of the benchmark's PyTorch lesson, as a lesson of the course has them."""

from autograder.lessons.bench.cases import TOLERANCE, cases

from autograder.judging import agree, exercise


def compare(learner, reference, name, check):
    for arguments in cases(name, check):
        agree("once", learner, reference, name, *arguments, case=check, **TOLERANCE)


@exercise("Gelu")
def test_small(learner, reference):
    compare(learner, reference, "Gelu", "small")


@exercise("Gelu", visible=False)
def test_gelu_matrices(learner, reference):
    compare(learner, reference, "Gelu", "matrices")


@exercise("Gelu", visible=False)
def test_gelu(learner, reference):
    compare(learner, reference, "Gelu", "hidden")


@exercise("Linear")
def test_one_row(learner, reference):
    compare(learner, reference, "Linear", "one row")


@exercise("Linear", visible=False)
def test_linear_batches(learner, reference):
    compare(learner, reference, "Linear", "batches")


@exercise("Linear", visible=False)
def test_linear(learner, reference):
    compare(learner, reference, "Linear", "hidden")


@exercise("LayerNorm")
def test_rows(learner, reference):
    compare(learner, reference, "LayerNorm", "rows")


@exercise("LayerNorm", visible=False)
def test_norm_batches(learner, reference):
    compare(learner, reference, "LayerNorm", "batches")


@exercise("LayerNorm", visible=False)
def test_norm(learner, reference):
    compare(learner, reference, "LayerNorm", "hidden")
