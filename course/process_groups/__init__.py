"""Process groups for trying distributed training on one machine: real processes with gloo, or threads.

    def step(group):
        gradient = torch.full((3,), float(group.rank))
        group.all_reduce(gradient)
        return gradient

    in_processes(step, 2)  # two processes and torch.distributed's gloo
    in_threads(step, 2)  # the same function, the same results, in this process

Both call `step` once for each rank, with that rank's `Group`, and return the results in rank order. If the ranks' calls
do not match, which on a cluster makes a program hang, both raise an error that says which rank waits for what.
"""

from course.process_groups.group import Call, Group, GroupError
from course.process_groups.processes import in_processes
from course.process_groups.threads import in_threads

__all__ = ["Call", "Group", "GroupError", "in_processes", "in_threads"]
