"""Wrong answers to measure, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PREPARED = "forward, x, g = prepared(policy, device, live)"
PREPARED_AGAIN = "forward, x, g = prepared(policy, device, LiveStorages())"
SAVED_BYTES = "saved_bytes = live.bytes"
STEP_BACK = "out.backward(g)"
NUMBERS = 'return {"saved_bytes": saved_bytes, "flops": counter.total, "seconds": seconds, "peak_bytes": live.peak}'


bytes_at_the_end = mistake(
    "measure",
    {NUMBERS: NUMBERS.replace("live.peak", "live.bytes")},
    says="peak_bytes is what is left at the end of the step. live.peak is the most that was ever alive.",
)
peak_of_the_forward_pass = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes, peak = live.bytes, live.peak", NUMBERS: NUMBERS.replace("live.peak", "peak")},
    says="peak_bytes was read before the backward pass, where recomputation makes its peak.",
)
peak_for_saved = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes = live.peak"},
    says="saved_bytes is live.peak, the most that the forward pass ever held. What is kept between the passes is "
    "live.bytes.",
)
saved_after_backward = mistake(
    "measure",
    {f"{SAVED_BYTES}\n{STEP_BACK}": f"{STEP_BACK}\n{SAVED_BYTES}"},
    says="saved_bytes was read after the backward pass. It is what is alive between the passes.",
)
flops_of_the_forward_pass = mistake(
    "measure",
    {SAVED_BYTES: "saved_bytes, flops = live.bytes, counter.total", NUMBERS: NUMBERS.replace("counter.total", "flops")},
    says="flops are those of the forward pass alone. The step has two passes.",
)
backward_outside_of_the_instruments = mistake(
    "measure",
    {STEP_BACK: "", PREPARED_AGAIN: f"{STEP_BACK}\n{PREPARED_AGAIN}"},
    says="The backward pass runs outside `with live, counter:`, so neither its FLOPs nor its peak is seen.",
)
no_backward_pass = mistake(
    "measure",
    {STEP_BACK: ""},
    says="The measured step has no backward pass: call out.backward(g) while live and counter are active.",
)
flops_of_the_backward_pass = mistake(
    "measure",
    {
        SAVED_BYTES: "saved_bytes, flops = live.bytes, counter.total",
        NUMBERS: NUMBERS.replace("counter.total", "counter.total - flops"),
    },
    says="flops are those of the backward pass alone. The step has two passes.",
)
ones_for_g = mistake(
    "measure",
    {STEP_BACK: "out.sum().backward()"},
    says="The step goes back from out.sum(), so the upstream gradient is all ones. Use the g of fresh: "
    "out.backward(g).",
)
weights_count = mistake(
    "measure",
    {f"{PREPARED}\nwith live, counter:": f"with live, counter:\n    {PREPARED}"},
    says="The stack was made while LiveStorages was active, so its weights count. Make stack, x and g first.",
)
one_x_for_both_steps = mistake(
    "measure",
    {
        PREPARED: """\
stack, x, g = fresh(device)

def of_policy(live):
    if policy == "offload":
        return offloading(stack, live)
    return reversing(stack) if policy == "reversible" else checkpointing(policy, stack)

forward = of_policy(live)""",
        PREPARED_AGAIN: "forward = of_policy(LiveStorages())",
    },
    says="Both steps use one x, so its gradients add up, and one stack, whose parts are wrapped twice. Call fresh for "
    "each step.",
)
no_seconds = mistake(
    "measure",
    {"seconds = now(device) - start": "seconds = 0.0"},
    says="seconds is 0: it was not measured, or was cut to a whole number. The difference of two readings of "
    "time.perf_counter(), before and after a step, is a float.",
)
seconds_with_the_instruments = mistake(
    "measure",
    {
        "with live, counter:": "start = now(device)\nwith live, counter:",
        f"{PREPARED_AGAIN}\nstart = now(device)\nforward(x).backward(g)\n": "",
    },
    says="seconds are those of the step that the instruments watch and slow down. Time another step: call fresh "
    "again, and run both passes without them.",
)
