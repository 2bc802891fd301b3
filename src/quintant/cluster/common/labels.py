"""The names by which simulated nodes and pods, and nodes that run processes, are known.

Labels, annotations and reasons: they are the whole interface, whatever `kubectl label` and `kubectl
annotate` can write.
"""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "simulated.quintant.dev"
SIMULATED = f"{PREFIX}/node"
"""The label ("true") of nodes that no machine stands behind."""
POD = f"{PREFIX}/pod"
"""The annotation ("true") of pods that no process stands behind."""
FAULT = f"{PREFIX}/fault"
"""The annotation of a node that makes it fail; see `Fault`."""
FATE = f"{PREFIX}/fate"
"""The annotation of a pod that chooses another life than that of a healthy one."""
EXIT_CODE, RUN_SECONDS = f"{PREFIX}/exit-code", f"{PREFIX}/run-seconds"
"""The annotations of a pod that ends: with what code, and after how many seconds."""
CPU_USAGE, MEMORY_USAGE = f"{PREFIX}/cpu-usage", f"{PREFIX}/memory-usage"
"""The annotations of a pod that say what each container of it is measured to use."""
GROWTH = f"{PREFIX}/growth"
"""The annotation of a claim whose volume does not grow at once: `refused` or `pending`."""
LOAD_BALANCER = f"{PREFIX}/load-balancer"
"""The annotation of a service (`pending`) that gets no address from outside."""
REASON = "Simulated"
"""The reason in the status of a simulated pod: the STATUS column shows it."""
NODE = "local"
"""The name of the node that this machine is, whatever others it runs the pods of."""
RUNS, PROCESSES = "node.quintant.dev/runs", "processes"
"""The label of nodes whose pods are processes of this machine, and its value."""


def is_simulated(labels: Mapping[str, str]) -> bool:
    """Whether no machine stands behind a node."""
    return labels.get(SIMULATED) == "true"


def runs_processes(labels: Mapping[str, str]) -> bool:
    """Whether a node's pods are processes of this machine; one that says it is simulated is."""
    return labels.get(RUNS) == PROCESSES and not is_simulated(labels)
