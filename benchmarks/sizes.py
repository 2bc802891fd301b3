"""How much each benchmark does: enough for steady figures, or a tenth of it with `--quick`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

QUICK_SHARE = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """Each is a flag of the command line: `--resources 500`."""

    resources: int = 2_000
    """Custom resources that an operator reconciles."""
    objects: int = 10_000
    """Objects that are synchronised and cached."""
    keys: int = 200_000
    """Keys that go through a queue."""
    requests: int = 3_000
    """Requests that a client sends."""
    nodes: int = 500
    """Simulated nodes of a large cluster."""
    pods: int = 2_000
    """Simulated pods on them."""
    trials: int = 100
    """Times that something is done and timed, where each time counts."""
    definitions: int = 200
    """CustomResourceDefinitions of real projects."""
    stored: int = 5_000
    """Objects of a cluster that is kept as a snapshot."""
    clusters: int = 500
    """Clusters that infra holds."""
    rounds: int = 1
    """How often the operators are measured; the best round of each counts."""
    workers: int = 8
    """Reconciles at once, where that can be set."""

    def quick(self) -> Sizes:
        """A tenth of the work."""
        counts = (
            *("resources", "objects", "keys", "requests", "nodes", "pods", "trials"),
            *("definitions", "stored", "clusters"),
        )
        return replace(self, **{name: getattr(self, name) // QUICK_SHARE for name in counts})


def names() -> list[str]:
    """The sizes there are."""
    return [size.name for size in fields(Sizes)]
