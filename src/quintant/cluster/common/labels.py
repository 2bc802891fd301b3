"""The names by which simulated nodes and pods are known: labels, annotations, reasons.

They are the whole interface: whatever `kubectl label` and `kubectl annotate` can write.
"""

from __future__ import annotations

PREFIX = "simulated.quintant.dev"
SIMULATED = f"{PREFIX}/node"
"""The label ("true") of nodes that no machine stands behind."""
POD = f"{PREFIX}/pod"
"""The annotation ("true") of pods that no process stands behind."""
FAULT = f"{PREFIX}/fault"
"""The annotation of a node that makes it fail; see `Fault`."""
FATE = f"{PREFIX}/fate"
"""The annotation of a pod that chooses another life than that of a healthy one."""
REASON = "Simulated"
"""The reason in the status of a simulated pod: the STATUS column shows it."""


NODE = "local"
"""The name of the node whose pods are processes of this machine."""
