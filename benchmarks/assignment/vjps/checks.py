"""The checks of the benchmark's NumPy lesson, as a lesson of the course has them."""

from autograder.lessons.bench.cases import TOLERANCE, cases

from autograder.judging import exercise, expect_close


def compare(learner, reference, name, check, names):
    for arguments in cases(name, check):
        expected = getattr(reference, name)(*arguments)
        expect_close(getattr(learner, name)(*arguments), expected, names=names, case=check, **TOLERANCE)


@exercise("matmul_vjp")
def test_matrices(learner, reference):
    compare(learner, reference, "matmul_vjp", "matrices", ("dA", "dB"))


@exercise("matmul_vjp", visible=False)
def test_stacks(learner, reference):
    compare(learner, reference, "matmul_vjp", "stacks", ("dA", "dB"))


@exercise("matmul_vjp", visible=False)
def test_matmul(learner, reference):
    compare(learner, reference, "matmul_vjp", "hidden", ("dA", "dB"))


@exercise("relu_vjp")
def test_clear(learner, reference):
    compare(learner, reference, "relu_vjp", "clear", ("dx",))


@exercise("relu_vjp", visible=False)
def test_zeros(learner, reference):
    compare(learner, reference, "relu_vjp", "zeros", ("dx",))


@exercise("relu_vjp", visible=False)
def test_relu(learner, reference):
    compare(learner, reference, "relu_vjp", "hidden", ("dx",))


@exercise("cross_entropy_gradient")
def test_one_row(learner, reference):
    compare(learner, reference, "cross_entropy_gradient", "one row", ("dlogits",))


@exercise("cross_entropy_gradient", visible=False)
def test_batches(learner, reference):
    compare(learner, reference, "cross_entropy_gradient", "batches", ("dlogits",))


@exercise("cross_entropy_gradient", visible=False)
def test_cross_entropy(learner, reference):
    compare(learner, reference, "cross_entropy_gradient", "hidden", ("dlogits",))


@exercise("add_vjp")
def test_one_shape(learner, reference):
    compare(learner, reference, "add_vjp", "one shape", ("da", "db"))


@exercise("add_vjp", visible=False)
def test_broadcast(learner, reference):
    compare(learner, reference, "add_vjp", "broadcast", ("da", "db"))


@exercise("add_vjp", visible=False)
def test_add(learner, reference):
    compare(learner, reference, "add_vjp", "hidden", ("da", "db"))


GRADIENTS = ("dW1", "db1", "dW2", "db2")


@exercise("mlp_gradients")
def test_one_image(learner, reference):
    compare(learner, reference, "mlp_gradients", "one image", GRADIENTS)


@exercise("mlp_gradients", visible=False)
def test_images(learner, reference):
    compare(learner, reference, "mlp_gradients", "batches", GRADIENTS)


@exercise("mlp_gradients", visible=False)
def test_mlp(learner, reference):
    compare(learner, reference, "mlp_gradients", "hidden", GRADIENTS)
