"""The four promises of the Portal Expose contract, measured with real relays and tunnels."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import ceil

from benchmarks.portal_trials import Figures
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer

METHOD = (
    "the sample of the demo on the embedded cluster: two relays, three tunnels, a web program, all "
    "processes of this machine, and the operator in the process that measures. One clock stamps "
    "causes and what a watch shows of them. A pass is all of a reconcile but the API calls in it. "
    "A change is the deletion or creation of the Service, the end of a tunnel's pod or of a "
    "relay's, and a relay that is stopped (SIGSTOP), until the status says so; everything is well "
    "again before the next trial. A rolling update changes the class's size, until three new "
    "tunnels are ready and Progressing is False. {trials} PortalExposes are created at once, until "
    "the first process of each runs; for that the node says that it has more cores than it does. "
    "The load of the machine was {before:.1f} before and {after:.1f} after, on {cores} cores."
)
ROWS = (
    ("a pass without API calls", "passes", 0.5),
    ("Service gone or back, until the status says so", "service", 5.0),
    ("tunnel lost, until the status says so", "tunnel", 5.0),
    ("relay lost, until the status says so", "relay", 5.0),
    ("relay silent, until the status says so", "silence", 5.0),
    ("PortalExpose, until its first tunnel starts", "start", 30.0),
    ("rolling update of three tunnels", "rollout", 60.0),
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure all four, in a process of their own."""
    say("portal_operator")
    before = os.getloadavg()[0]
    found = answer("portal_trials", str(sizes.trials), to=Figures, env={})
    after = os.getloadavg()[0]
    rows = [(name, getattr(found, kind), limit) for name, kind, limit in ROWS]
    yield Table(
        "The promises of Portal Expose",
        METHOD.format(trials=sizes.trials, before=before, after=after, cores=os.cpu_count()),
        ("", "trials", "p50", "p99", "worst", "promised"),
        [_row(name, taken, limit) for name, taken, limit in rows],
        [
            Budget(f"{name}: under {limit:g} s", f"{max(taken):.3f} s", max(taken) < limit)
            for name, taken, limit in rows
        ],
    )


def _row(name: str, taken: list[float], limit: float) -> tuple[str, ...]:
    shown = [f"{_at(taken, share):.4f} s" for share in (0.5, 0.99, 1.0)]
    return name, str(len(taken)), *shown, f"{limit:g} s"


def _at(taken: list[float], share: float) -> float:
    """The time within which this share of the trials was over."""
    return sorted(taken)[ceil(len(taken) * share) - 1]
