"""What keeps nodes from working though every child is as it should be. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from quintant.core.clock import parse_timestamp
from quintant.operators.cosmos.api import NODE_CONTAINER
from quintant.operators.cosmos.api.views import NodeContainerStatus
from quintant.operators.cosmos.observed.full_node import ChainNode, Observed

WAITING = frozenset(
    {
        "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError",
        "ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName",
        "RunContainerError",
    }
)  # fmt: skip
"""What containers wait for that time alone does not bring."""
_OFTEN = 2
"""Restarts after which a program that does not answer is taken for one that ends again."""
ADDRESS_PATIENCE = timedelta(minutes=10)
"""How long a load balancer may take: clouds need a few minutes, and many clusters have none."""


def overdue_services(observed: Observed, pending: Iterable[str]) -> tuple[str, ...]:
    """The Services without an address outside that are not waited for any longer."""
    made = {each.metadata.name: each.metadata.creation_timestamp for each in observed.services}
    return tuple(
        name
        for name in pending
        if (since := made.get(name)) is not None
        and observed.now - parse_timestamp(since) >= ADDRESS_PATIENCE
    )


def uncovered_upgrade(observed: Observed) -> str:
    """Which upgrade nodes stand at though no version covers it, and what to do; empty if none."""
    halted = [node for node in observed.nodes if node.uncovered]
    if not halted:
        return ""
    names, height = ", ".join(node.name for node in halted), halted[0].uncovered
    return (
        f"{names} halted for the upgrade at height {height}; no version covers it: add one of that "
        "height to spec.chain.versions"
    )


def failing_containers(observed: Observed) -> Iterator[str]:
    """The containers that do not run, and their last words."""
    for node in observed.nodes:
        if node.pod is None or not node.present:
            continue
        for each in node.pod.status.container_statuses:
            if reason := _reason(node, each):
                yield f"{node.name} {each.name}: {reason}"


def _reason(node: ChainNode, container: NodeContainerStatus) -> str:
    """Why a container does not work; empty if it does, or may soon."""
    waiting, ended = container.state.waiting, container.last_state.terminated
    if waiting is not None and waiting.reason in WAITING:
        words = ended.message if ended is not None else waiting.message
        return f"{waiting.reason}: {words}" if words else waiting.reason
    silent = container.name == NODE_CONTAINER and not node.reachable
    if ended is None or not ended.exit_code or not silent or container.restart_count < _OFTEN:
        return ""
    return f"restarted {container.restart_count} times: {ended.message or ended.reason}"
