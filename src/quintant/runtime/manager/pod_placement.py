"""Where pods of a manager are put, how soon they leave a node that is away, and as whom they run.

Of a manager whose webhook fails closed, every replica may be on one node, and that node may die:
until there is another one, the API server refuses all that the webhook is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.core import (
    PodSecurityContext,
    SeccompProfile,
    Toleration,
    TopologySpreadConstraint,
)
from quintant.api.meta import LabelSelector

NONROOT_ID = 65532
"""User and group of programs. The group of root may read and write too much; a group without a
user is refused by containerd, though the API server takes it."""
BORNE_SECONDS = 30
"""How long a pod stays on a node that is away; five minutes where nobody says anything."""

CONFINED = PodSecurityContext(
    run_as_non_root=True,
    run_as_user=NONROOT_ID,
    run_as_group=NONROOT_ID,
    seccomp_profile=SeccompProfile(type="RuntimeDefault"),
)
"""As the level `restricted` of Pod Security wants it."""

NODE_AWAY = tuple(
    Toleration(
        key=f"node.kubernetes.io/{why}",
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=BORNE_SECONDS,
    )
    for why in ("not-ready", "unreachable")
)


def spread(labels: Mapping[str, str]) -> TopologySpreadConstraint:
    """Pods with these labels on different nodes, if there are several."""
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key="kubernetes.io/hostname",
        when_unsatisfiable="ScheduleAnyway",
        label_selector=LabelSelector(match_labels=labels),
    )
