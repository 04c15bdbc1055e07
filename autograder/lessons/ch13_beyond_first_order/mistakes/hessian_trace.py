"""Wrong answers to hessian_trace, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

BITS = "z = 2 * torch.randint(2, x.shape, generator=generator, dtype=x.dtype) - 1"
SAMPLE = "total += (z * hvp(f, x, z)).sum().item()"
LOOP = "for _ in range(samples):"

GAUSSIAN = (
    "The probes are normal numbers. That is unbiased, too, with a larger variance: even a diagonal H gives other "
    "estimates than its trace. Signs, ±1, are asked."
)
gaussian_probes = mistake(
    "hessian_trace", {BITS: "z = torch.randn(x.shape, generator=generator, dtype=x.dtype)"}, says=GAUSSIAN
)
gaussian_probes_in_float32 = mistake(
    "hessian_trace", {BITS: "z = torch.randn(x.shape, generator=generator).to(x.dtype)"}, says=GAUSSIAN
)
BITS_ALONE = "The probes are zeros and ones: E[z zᵀ] is not the identity then. 2 · bits − 1 are signs."
zeros_and_ones = mistake(
    "hessian_trace", {BITS: "z = torch.randint(2, x.shape, generator=generator, dtype=x.dtype)"}, says=BITS_ALONE
)
zeros_and_ones_by_bernoulli = mistake(
    "hessian_trace",
    {BITS: "z = torch.bernoulli(torch.full(x.shape, 0.5), generator=generator).to(x.dtype)"},
    says=BITS_ALONE,
)
zeros_and_ones_by_a_threshold = mistake(
    "hessian_trace", {BITS: "z = (torch.rand(x.shape, generator=generator) > 0.5).to(x.dtype)"}, says=BITS_ALONE
)
zeros_and_minus_ones = mistake(
    "hessian_trace",
    {BITS: "z = torch.randint(-1, 1, x.shape, generator=generator, dtype=x.dtype)"},
    says="The probes are zeros and minus ones: randint(-1, 1) leaves its upper end out. 2 · bits − 1 are signs.",
)
zeros_among_the_signs = mistake(
    "hessian_trace",
    {BITS: "z = torch.randint(-1, 2, x.shape, generator=generator, dtype=x.dtype)"},
    says="randint(-1, 2) draws −1, 0 and 1: E[z²] is ⅔, and so is the estimate, on average. 2 · bits − 1 are signs.",
)
two_of_three = mistake(
    "hessian_trace",
    {BITS: "z = 2 * (torch.randint(3, x.shape, generator=generator) > 0).to(x.dtype) - 1"},
    says="A sign is 1 two times out of three. Then E[z_i z_j] is 1/9, and the estimate has a part of every entry of H: "
    "each sign has the probability ½.",
)
one_sign_for_a_column = mistake(
    "hessian_trace",
    {BITS: BITS.replace("x.shape", "x.shape[-1:]") + "\nz = z.expand(x.shape)"},
    says="All rows of x have the same signs. Draw one for each entry, in the shape of x.",
)
UNIFORM = "The probes are uniform between −1 and 1: E[z²] is ⅓, and so is the estimate, on average. Take the signs."
uniform_probes = mistake(
    "hessian_trace", {BITS: "z = 2 * torch.rand(x.shape, generator=generator, dtype=x.dtype) - 1"}, says=UNIFORM
)
uniform_probes_in_float32 = mistake(
    "hessian_trace", {BITS: "z = (2 * torch.rand(x.shape, generator=generator) - 1).to(x.dtype)"}, says=UNIFORM
)
global_generator = mistake(
    "hessian_trace",
    {BITS: BITS.replace("generator=generator, ", "")},
    says="The probes come from PyTorch's global generator. Pass generator=generator to whatever draws.",
)
seeded = mistake(
    "hessian_trace",
    {LOOP: f"generator.manual_seed(0)\n{LOOP}"},
    says="The generator is seeded, so every call has the same probes. It is the caller's: draw from it as it is.",
)
one_probe_for_all = mistake(
    "hessian_trace",
    {f"{LOOP}\n{BITS}": f"{BITS}\n{LOOP}"},
    says="One probe is used for all samples: the mean is that of a single one. Draw inside of the loop.",
)
one_sign_for_all = mistake(
    "hessian_trace",
    {BITS: BITS.replace("x.shape", "()") + "\nz = z.expand(x.shape)"},
    says="All entries of a probe have one sign: z·Hz is then the sum of all entries of H. Each entry has its own.",
)
sum_of_samples = mistake(
    "hessian_trace",
    {"return total / samples": "return total"},
    says="The samples are added up and not divided by their number. The mean is asked.",
)
mean_over_entries = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * hvp(f, x, z)).mean().item()"},
    says="z·Hz is a sum over the entries of x, not their mean. (Where a probe is brought to length 1, it is divided by "
    "their number as well.)",
)
without_second_z = mistake(
    "hessian_trace",
    {SAMPLE: "total += hvp(f, x, z).sum().item()"},
    says="The entries of Hz were added up. The second z is missing: z·Hz.",
)
gradient_probed = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * torch.func.grad(f)(x.detach())).sum().item()"},
    says="z was multiplied with the gradient. Multiply it with H·z, the product of the first exercise.",
)
trace_as_tensor = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * hvp(f, x, z)).sum()"},
    says="The trace is a tensor. A Python float is asked: .item().",
)
vectors_only = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z @ hvp(f, x, z)).item()"},
    says="z @ Hz is a dot product for vectors only. For x of any shape: (z * Hz).sum().",
)


every_basis_vector = mistake(
    "hessian_trace",
    {
        LOOP: "for i in range(x.numel()):",
        BITS: "z = torch.zeros(x.numel(), dtype=x.dtype)\nz[i] = 1\nz = z.reshape(x.shape)",
        "return total / samples": "return total",
    },
    says="This is the trace itself, from one product for each entry of x. Hutchinson's estimate takes `samples` "
    "products, whatever n is, with probes of ±1 from the generator.",
)

length_of_the_product = mistake(
    "hessian_trace",
    {SAMPLE: "total += hvp(f, x, z).square().sum().item()"},
    says="This is Hz · Hz, the squared length of Hz, whose mean is the trace of H². z · Hz is asked.",
)
one_probe_too_few = mistake(
    "hessian_trace",
    {LOOP: "for _ in range(max(1, samples - 1)):"},
    says="There is one probe too few: `samples` of them are drawn.",
)
divided_by_the_running_count = mistake(
    "hessian_trace",
    {
        LOOP: "for i in range(samples):",
        SAMPLE: "total += (z * hvp(f, x, z)).sum().item()\ntotal /= i + 1",
        "return total / samples": "return total",
    },
    says="The sum so far is divided in every round, so that what came first is divided again and again. Divide once, "
    "at the end.",
)
