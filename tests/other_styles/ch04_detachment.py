"""A right freeze_midway that takes the parameters out of the optimizer's groups, and leaves the gradients until later."""


def freeze_midway(parameters, optimizer):
    flags = {}
    for parameter in parameters:
        flags.setdefault(parameter, parameter.requires_grad)
    members = [list(group["params"]) for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["params"] = [one for one in group["params"] if one not in flags]
    for parameter in flags:
        parameter.requires_grad = False

    def unfreeze():
        for group, all_of_them in zip(optimizer.param_groups, members, strict=True):
            group["params"] = all_of_them
        for parameter, flag in flags.items():
            parameter.requires_grad = flag
            parameter.grad = None
            optimizer.state[parameter] = {}

    return unfreeze
