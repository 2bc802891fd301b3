"""What infra shows of a Cluster beside its status: a tree, and what another template would change.

Pure. Templates are shown by path, never by value: their inputs may be secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quintant.api.meta import Condition
from quintant.operators.infra.api import Cluster, ClusterStatus
from quintant.operators.infra.observed.answers import Estimate
from quintant.operators.infra.plan.diff import differences, irremovable, listed, machine_counts


def describe(cluster: Cluster) -> str:
    """A Cluster as a tree: its operation, machines, nodes, conditions and last errors."""
    status = cluster.status or ClusterStatus()
    head = f"Cluster {cluster.key}  {status.state or 'PENDING'}"
    message = f"{head}  {status.phase_message}".rstrip()
    return "\n".join([message, *_drawn(list(_parts(status)))])


def _parts(status: ClusterStatus) -> Iterator[tuple[str, list[str]]]:
    on, to = status.running_on, status.scheduled_to
    if on is not None:
        yield f"Cloud {on.kind}/{on.name}, by {on.provider_kind}/{on.provider_name}", []
    elif to is not None:
        yield f"Cloud {to.kind}/{to.name}, not running there yet", []
    if (operation := status.operation) is not None:
        progress = "" if operation.progress is None else f", {operation.progress} % configured"
        yield f"Operation {operation.type} {operation.phase}{progress}", list(_operation(status))
    if status.cluster_id:
        infrastructure = status.infrastructure
        state = infrastructure.state if infrastructure is not None else "not seen yet"
        yield f"Infrastructure {status.cluster_id}  {state}", list(_machines(status))
    if status.kubeconfig_secret_ref is not None:
        yield f"Kubeconfig in Secret {status.kubeconfig_secret_ref.name}", []
    if (nodes := status.nodes) is not None:
        lines = [f"{each.name}  {_health(each.ready, each.conditions)}" for each in nodes.items]
        yield f"Nodes {nodes.ready} of {nodes.total} ready, {status.api_server_endpoint}", lines
    yield "Conditions", [_condition(each) for each in status.conditions]
    if status.last_errors:
        yield (
            "Last errors",
            [
                f"{each.time}  {each.operation or '-'}  {each.reason}: {each.message}"
                for each in status.last_errors
            ],
        )


def _operation(status: ClusterStatus) -> Iterator[str]:
    operation = status.operation
    if operation is None:
        return
    yield f"since {operation.started_at}, attempt {operation.attempt}"
    if operation.not_before is not None:
        yield f"next attempt not before {operation.not_before}"


def _machines(status: ClusterStatus) -> Iterator[str]:
    infrastructure = status.infrastructure
    for each in infrastructure.vms if infrastructure is not None else ():
        addresses = ", ".join(each.addresses)
        yield f"machine {each.id}  {each.name}  {each.state}  {addresses}".rstrip()
    if infrastructure is not None and infrastructure.message:
        yield infrastructure.message


def _health(ready: bool, pressures: tuple[str, ...]) -> str:
    return ", ".join(["ready" if ready else "not ready", *pressures])


def _condition(condition: Condition) -> str:
    return f"{condition.type}={condition.status}  {condition.reason}  {condition.message}".rstrip()


def _drawn(parts: list[tuple[str, list[str]]]) -> Iterator[str]:
    for at, (title, lines) in enumerate(parts):
        last = at == len(parts) - 1
        yield f"{'└──' if last else '├──'} {title}"
        for number, line in enumerate(lines):
            branch = "└──" if number == len(lines) - 1 else "├──"
            yield f"{'    ' if last else '│   '}{branch} {line}"


def planned(before: Mapping[str, Any], after: Mapping[str, Any], estimate: Estimate | str) -> str:
    """What another template changes: paths, machines, and what the provider makes of it."""
    changes = differences(before, after)
    lines = [f"  {each}" for each in changes] or ["  nothing"]
    kept = irremovable(changes) if before else ()
    parts = ["Template", *lines, "Machines", *(_scaled(before, after) or ["  as they are"])]
    if kept:
        parts.append(f"The provider only merges templates, and would keep: {listed(kept)}")
    return "\n".join([*parts, "Provider", *_estimated(estimate)])


def _scaled(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    old, new = machine_counts(before) or {}, machine_counts(after)
    if new is None:
        return ["  unknown: the template has types that are defined elsewhere"]
    names: Iterable[str] = sorted(old.keys() | new.keys())
    rows = ((name, old.get(name, 0), new.get(name, 0)) for name in names)
    return [f"  {name}: {was} -> {will}" for name, was, will in rows if was != will]


def _estimated(estimate: Estimate | str) -> list[str]:
    if isinstance(estimate, str):
        return [f"  not asked: {estimate}"]
    head = f"  {estimate.machines} machines on {', '.join(estimate.clouds) or 'no cloud'}"
    return [head, *(f"  {each}" for each in estimate.details if each)]
