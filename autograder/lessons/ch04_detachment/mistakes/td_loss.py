"""Wrong answers to td_loss, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch04_detachment.mistakes.gradient_modes import OFF_FOR_GOOD

PREDICTION = 'q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)'
BEST = 'best = target_net(batch["next_states"]).max(dim=1).values'
GOES_ON = 'goes_on = 1 - batch["dones"].to(best.dtype)'
TARGET = 'y = batch["rewards"] + gamma * goes_on * best'
SQUARES = "return torch.nn.functional.mse_loss(q, y)"

CONSTANT_TARGET = f"with torch.no_grad():\n    {BEST}\n    {GOES_ON}\n    {TARGET}"
RECORDED_TARGET = f"{BEST}\n{GOES_ON}\n{TARGET}"

ONE_MAXIMUM = "The maximum was taken over the whole batch. Each transition has its own: max over dim 1, the actions."

target_not_detached = mistake(
    "td_loss",
    {CONSTANT_TARGET: RECORDED_TARGET},
    says="The gradient flows into target_net, or, where both are one network, through y as well. y is a constant: "
    "compute it under no_grad, or detach it.",
)

detached_the_prediction = mistake(
    "td_loss",
    {PREDICTION: f"{PREDICTION}.detach()", CONSTANT_TARGET: RECORDED_TARGET},
    says="The prediction was detached instead of the target: q_net learns nothing and target_net is trained. Swap "
    "them.",
)

no_grad_around_everything = mistake(
    "td_loss",
    {PREDICTION: f"with torch.no_grad():\n    {PREDICTION}"},
    says="Everything is under no_grad, or detached, Q(s, a) too, so there is no graph to go back through. Only y is "
    "to be a constant.",
)

returned_a_number = mistake(
    "td_loss",
    {SQUARES: f"{SQUARES}.item()"},
    says="A number has no graph, so nothing can go back through it. Leave out .item().",
)

froze_the_target_network = mistake(
    "td_loss",
    {PREDICTION: f"for parameter in target_net.parameters():\n    parameter.requires_grad_(False)\n{PREDICTION}"},
    says="This freezes target_net's parameters for good, and those of q_net with them where both are one module. Stop "
    "the gradient, not the parameters: no_grad or detach around y.",
)

eval_for_no_grad = mistake(
    "td_loss",
    {PREDICTION: f"target_net.eval()\n{PREDICTION}"},
    says="target_net was switched to eval mode and stays there: that is a change of the caller's network, and it "
    "stops no gradient.",
)

gradients_off_for_good = mistake(
    "td_loss",
    {CONSTANT_TARGET: f"torch.set_grad_enabled(False)\n{RECORDED_TARGET}"},
    says=OFF_FOR_GOOD,
)

called_backward = mistake(
    "td_loss",
    {SQUARES: "loss = torch.nn.functional.mse_loss(q, y)\nloss.backward()\nreturn loss"},
    says="td_loss called backward itself, so the caller's backward would add a second time or fail. Only return the "
    "loss.",
)

n_by_n_differences = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1))',
        SQUARES: "return ((q - y) ** 2).mean()",
    },
    says="Q(s, a) is (n, 1) and y is (n,): their difference broadcasts to (n, n), each prediction against every "
    "target. Squeeze the axis that gather left.",
)

columns_for_every_row = mistake(
    "td_loss",
    {PREDICTION: 'q = q_net(batch["states"])[:, batch["actions"]]', SQUARES: "return ((q - y) ** 2).mean()"},
    says="q[:, actions] takes the columns of all actions for every row, (n, n) values. Each row has one action: "
    "gather, or row numbers and actions together.",
)

best_action_for_the_taken_one = mistake(
    "td_loss",
    {PREDICTION: 'q = q_net(batch["states"]).max(dim=1).values'},
    says="The prediction is the best action's value. It has to be the value of the action that was taken, Q(s, a).",
)

dones_ignored = mistake(
    "td_loss",
    {GOES_ON: "", TARGET: 'y = batch["rewards"] + gamma * best'},
    says="`dones` is not used: nothing comes after the last state of an episode, so the target is the reward alone.",
)

dones_the_wrong_way = mistake(
    "td_loss",
    {GOES_ON: 'goes_on = batch["dones"].to(best.dtype)'},
    says="The mask is the wrong way round: the future counts where the episode is not done, 1 − done.",
)

bools_not_converted = mistake(
    "td_loss",
    {GOES_ON: 'goes_on = 1 - batch["dones"]'},
    says="1 − dones is refused for bools. Convert first, .to(rewards.dtype), or use ~dones for the mask.",
)

reward_masked_too = mistake(
    "td_loss",
    {TARGET: 'y = goes_on * (batch["rewards"] + gamma * best)'},
    says="The mask took the reward away, too. The last reward of an episode counts; only the future does not.",
)

not_discounted = mistake(
    "td_loss",
    {TARGET: 'y = batch["rewards"] + goes_on * best'},
    says="gamma is missing: the future counts gamma times as much as the reward.",
)

one_maximum_for_the_batch = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).max()'},
    says=ONE_MAXIMUM,
)

one_maximum_and_a_float_mask = mistake(
    "td_loss",
    {
        BEST: 'best = target_net(batch["next_states"]).max()',
        GOES_ON: 'goes_on = 1 - batch["dones"].float()',
    },
    says=ONE_MAXIMUM,
)

maximum_over_the_transitions = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).max(dim=0).values'},
    says="max(dim=0) takes the best transition for each action. Each transition has its own best action: dim=1.",
)

number_of_the_best_action = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).argmax(dim=1).to(batch["rewards"].dtype)'},
    says="This is the number of the best action, not its value. max(dim=1) gives both: `.values` is meant.",
)

value_of_the_action_taken_before = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)'},
    says="The next state was judged by the action that was taken in `states`. The target takes the best action there: "
    "max(dim=1).",
)
mean_over_the_actions = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).mean(dim=1)'},
    says="The next state's value is the mean over its actions here. The target takes the best action's: max(dim=1).",
)
reward_discounted = mistake(
    "td_loss",
    {TARGET: 'y = gamma * (batch["rewards"] + goes_on * best)'},
    says="The reward was discounted, too. gamma belongs to the future alone: r + gamma (1 − done) max Q.",
)
target_of_the_same_state = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["states"]).max(dim=1).values'},
    says="target_net was asked about `states`. The future starts in `next_states`.",
)

target_from_q_net = mistake(
    "td_loss",
    {BEST: 'best = q_net(batch["next_states"]).max(dim=1).values'},
    says="target_net is not used: the future was judged by q_net. That is what the second network is for.",
)

double_q_learning = mistake(
    "td_loss",
    {
        BEST: """
chosen = q_net(batch["next_states"]).argmax(dim=1, keepdim=True)
best = target_net(batch["next_states"]).gather(1, chosen).squeeze(1)
"""
    },
    says="This is double Q-learning: q_net picks the next action, target_net values it. Here target_net does both: "
    "its own maximum.",
)

sum_of_squares = mistake(
    "td_loss",
    {SQUARES: 'return torch.nn.functional.mse_loss(q, y, reduction="sum")'},
    says="The squares were added up. Take their mean over the n transitions.",
)

half_of_the_mean = mistake(
    "td_loss",
    {SQUARES: "return 0.5 * torch.nn.functional.mse_loss(q, y)"},
    says="The ½ is too much: the loss is the mean of the squares, without it.",
)

huber = mistake(
    "td_loss",
    {SQUARES: "return torch.nn.functional.smooth_l1_loss(q, y)"},
    says="This is the Huber loss, which many programs use here. Take the mean squared error: mse_loss.",
)

wrote_into_the_rewards = mistake(
    "td_loss",
    {TARGET: 'y = batch["rewards"]\ny += gamma * goes_on * best'},
    says="The target was written into batch['rewards']: `+=` works in place, and `y = batch['rewards']` copies "
    "nothing. Use y = rewards + ….",
)

all_actions_trained = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"])',
        "return torch.nn.functional.mse_loss(q, y)": "targets = torch.zeros_like(q)\n"
        'targets[torch.arange(len(y)), batch["actions"]] = y\nreturn torch.nn.functional.mse_loss(q, targets)',
    },
    says="The loss goes over all actions, and those that were not chosen are pulled to 0. You know nothing about "
    "those: take q of the chosen action alone, with gather.",
)
chosen_against_all = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"])',
        "return torch.nn.functional.mse_loss(q, y)": "return torch.nn.functional.mse_loss(q, y.unsqueeze(1)."
        "expand_as(q))",
    },
    says="Every action is pulled to y. y is the target of the chosen action: take q of that action, with gather.",
)
