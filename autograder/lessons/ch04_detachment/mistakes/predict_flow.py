"""Wrong answers to predict_flow, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

DEAD_UNIT = '"dead_unit": {"x": True, "w": True, "b": True, "spare": False},'
SIDE_BRANCH = '"side_branch": {"a": True, "b": True, "c": False, "d": True},'
NO_GRAD_BLOCK = '"no_grad_block": {"a": False, "b": True, "c": True},'
LATE_REQUEST = '"late_request": {"early": True, "late": False},'
CHOICE = '"choice": {"score": False, "chosen": True, "other": True},'
HALF_A_STEP = '"half_a_step": {"w": True, "b": False, "x": True, "stepped": False},'

BY_THE_RULE = "return {program: flows(steps) for program, steps in programs.items()}"
LEAVES = 'if how == "leaf" or (how == "request" and not reached[name]):'
PRODUCT = 'elif how == "product":'
OF_A_PRODUCT = "reached[name] = set().union(*(reached[one] for one in inputs))"
NOT_RECORDED = "reached[name] = set()"
THERE = "return {name: name in reached[steps[-1][0]] for name in reached}"
OPPOSITE = "return {program: {name: not flow for name, flow in answers.items()} for program, answers in right.items()}"


def _believing(answers, **beliefs):
    """An edit: `beliefs` replace some answers, by tensor, for one of the six programs."""
    believed = answers
    for name, flows in beliefs.items():
        believed = believed.replace(f'"{name}": {not flows}', f'"{name}": {flows}')
    return {answers: believed}


zero_for_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, x=False, w=False, b=False) | _believing(CHOICE, other=False),
    says="A gradient of zero was taken for no gradient. Where a graph leads to a leaf, `.grad` becomes a tensor, even "
    "if every number on the way was 0.",
)

dead_units_give_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, x=False, w=False),
    says="relu at a negative input passes 0 on, and 0 is a number: x and w get tensors of zeros. None is for leaves "
    "that no graph leads to.",
)

times_zero_gives_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, b=False),
    says="A factor 0 makes the gradient 0, not None: b is in the graph, and its `.grad` becomes a tensor.",
)

not_chosen_gives_none = mistake(
    "predict_flow",
    _believing(CHOICE, other=False),
    says="The alternative that torch.where did not take is still in its graph: it gets a gradient of 0, which is a "
    "tensor.",
)

unused_leaves_get_zero = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, spare=True),
    says="A leaf that the loss does not use keeps `.grad` None. Backward visits what the loss was made of, and no "
    "more.",
)

detach_changes_the_tensor = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, a=False, b=False, d=False),
    says="detach() makes a second, constant tensor; the original stays in the graph. What also reaches the loss on "
    "another branch gets its gradient there.",
)

cancelled_values_give_none = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, d=False),
    says="d − d.detach() is 0 for every d, and yet its derivative is 1: autograd differentiates the program, and the "
    "second d is a constant to it.",
)

through_the_detach = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, c=True),
    says="Nothing comes back through detach(): c is used only behind it, and its `.grad` stays None.",
)

no_grad_ends_with_the_block = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, a=True),
    says="Under no_grad nothing is recorded: scale stays a constant even outside the block, and a gets nothing.",
)

no_grad_holds_for_leaves = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, c=False),
    says="no_grad affects results of operations. A tensor made with requires_grad=True is a leaf that asks for its "
    "gradient, wherever it was made.",
)

no_grad_the_wrong_way_round = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, a=True, c=False),
    says="Both are the wrong way round. Under no_grad the product scale becomes a constant, so a gets nothing; the "
    "leaf c asks for its own gradient and gets it.",
)

asking_works_backwards = mistake(
    "predict_flow",
    _believing(LATE_REQUEST, late=True),
    says="The graph is recorded while the operation runs. When h was computed late asked for nothing; asking later "
    "does not change h.",
)

conditions_get_gradients = mistake(
    "predict_flow",
    _believing(CHOICE, score=True),
    says="A comparison has no derivative: score > 0 is a bool, and no graph goes through it.",
)

grad_writes_grad = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, b=True),
    says="torch.autograd.grad returns the gradient and writes no `.grad`; without create_graph=True slope is a "
    "constant, too. So nothing arrives at b.",
)

results_keep_gradients = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, stepped=True),
    says="stepped was made by an operation, so it is not a leaf, and backward keeps `.grad` on leaves only. The "
    "gradient goes through it to w.",
)

a_step_starts_afresh = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, w=False, stepped=True),
    says="stepped is made from w by an operation that was recorded, so w gets its gradient through it; stepped "
    "itself is not a leaf and keeps none.",
)

whoever_asks_gets = mistake(
    "predict_flow",
    {
        BY_THE_RULE: """
def asks(name, steps):
    return flows([*steps, ("a loss of it alone", "product", name)])[name]

return {program: {name: asks(name, steps) for name, *_ in steps} for program, steps in programs.items()}
""",
        "return {": "right = {",
        "}": "}\nreturn {program: dict.fromkeys(tensors, True) for program, tensors in right.items()}",
    },
    says="Everything that requires a gradient is said to get one. The loss has to lead to it, too.",
)

rule_detaches_the_original = mistake(
    "predict_flow",
    {
        "reached = {}": "reached, cut = {}, set()",
        OF_A_PRODUCT: f"{OF_A_PRODUCT} - cut",
        NOT_RECORDED: f"""
{NOT_RECORDED}
if how == "detach":
    cut |= reached[inputs[0]] | {{inputs[0]}}""",
        THERE: "return {name: name in reached[steps[-1][0]] - cut for name in reached}",
    },
    says="In your rule detach() takes the original out of the graph, too. It makes a second, constant tensor, and the "
    "original stays where it is.",
    where="flows",
)

rule_goes_through_the_detach = mistake(
    "predict_flow",
    {PRODUCT: 'elif how in ("product", "detach"):'},
    says="In your rule a gradient goes back through detach(). What detach makes is a constant: no leaf is reached "
    "through it.",
    where="flows",
)

rule_goes_through_no_grad = mistake(
    "predict_flow",
    {PRODUCT: 'elif how in ("product", "product under no_grad"):'},
    says="In your rule a gradient goes back through a product under no_grad. Nothing was recorded there: that product "
    "is a constant.",
    where="flows",
)

rule_lets_requests_work_backwards = mistake(
    "predict_flow",
    {LEAVES: f'if how == "constant" and (name, "request") in steps:\n    reached[name] = {{name}}\nel{LEAVES}'},
    says="In your rule a request counts for products that were made before it. They were recorded while the name asked "
    "for nothing: only products after the request lead to it.",
    where="flows",
)

rule_keeps_gradients_of_results = mistake(
    "predict_flow",
    {OF_A_PRODUCT: f"{OF_A_PRODUCT}\nif reached[name] and name != steps[-1][0]:\n    reached[name].add(name)"},
    says="In your rule products get a `.grad`, too. The gradient goes through them, and backward keeps it on leaves "
    "only.",
    where="flows",
)

rule_keeps_gradients_of_all = mistake(
    "predict_flow",
    {OF_A_PRODUCT: f"{OF_A_PRODUCT}\nif reached[name]:\n    reached[name].add(name)"},
    says="In your rule all that the gradient goes through gets a `.grad`, products and the loss too. Backward keeps it "
    "on leaves only.",
    where="flows",
)

all_the_wrong_way_round = mistake(
    "predict_flow",
    {
        BY_THE_RULE: f"right = {{program: flows(steps) for program, steps in programs.items()}}\n{OPPOSITE}",
        "return {": "right = {",
        "}": f"}}\n{OPPOSITE}",
    },
    says="All answers are the wrong way round: True where `.grad` becomes a tensor, False where it stays None.",
)
