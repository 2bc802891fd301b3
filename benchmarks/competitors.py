"""The operators that are measured beside each other: one program on many runtimes.

All do the same for a Greeter: a ConfigMap, then the status. Those in Python are modules of
`operators/`, the others are built from `peers/`; one that cannot be built here is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from subprocess import Popen

from benchmarks.peers_build import CONTROLLER_RUNTIME, KUBE_RS, Peer, build
from benchmarks.subprocesses import module_command
from processes.running import running_command

_OPERATORS, _ON_QUINTANT = "benchmarks.operators", "operators.kopf_on_quintant"
# Each with its module, and what is particular in its environment.
MODULES: dict[str, tuple[str, dict[str, str]]] = {
    "Quintant": ("operators.with_quintant", {}),
    "kopf": ("operators.with_kopf", {}),
    "lean kopf": ("operators.with_lean_kopf", {}),
    "lean kopf, quiet": ("operators.with_lean_kopf", {"BENCH_QUIET": "1"}),
    "kopf's handlers on Quintant": (_ON_QUINTANT, {"BENCH_KOPF": f"{_OPERATORS}.with_kopf"}),
    "lean, on Quintant": (_ON_QUINTANT, {"BENCH_KOPF": f"{_OPERATORS}.with_lean_kopf"}),
    "bare loop": ("operators.with_aiohttp", {}),
}
PEERS: dict[str, tuple[Peer, dict[str, str]]] = {
    "controller-runtime": (CONTROLLER_RUNTIME, {"BENCH_MODE": "update"}),
    "controller-runtime, apply": (CONTROLLER_RUNTIME, {"BENCH_MODE": "apply"}),
    "kube-rs": (KUBE_RS, {}),
}


@dataclass(frozen=True, slots=True)
class Operator:
    """A program that can be started."""

    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)

    def running(self, env: Mapping[str, str]) -> AbstractContextManager[Popen[bytes]]:
        """Run it, for as long as the context lasts."""
        return running_command(self.command, env={**env, **self.env})


def operators(names: Iterable[str], say: Callable[[str], None]) -> dict[str, Operator]:
    """Those of these names that can be run here."""
    found: dict[str, Operator] = {}
    for name in names:
        if name in MODULES:
            module, env = MODULES[name]
            found[name] = Operator(module_command(module), env)
        else:
            peer, env = PEERS[name]
            program = build(peer, say)
            if program is not None:
                found[name] = Operator((str(program),), env)
    return found
