"""What is installed by kubectl: every operator, its variants, and the examples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from manifests.console_parts import console_parts
from manifests.files import HEADER, ROOT
from manifests.kustomize import CRDS, Parts, installation, kustomization, plain_files
from manifests.operator_parts import operator_parts, whole_program
from manifests.peers import peers_policy
from quintant.cli.operators.klight import NAME as KLIGHT
from quintant.cli.operators.manifests import IMAGE, operator_deployment
from quintant.core import codec
from quintant.core.yaml.dump import to_yaml
from quintant.operators import OPERATORS, klight, manager_of, shifu
from quintant.operators.klight.options import Options as KlightOptions
from quintant.operators.network_policy import agent_policy
from quintant.operators.shifu.options import Options as ShifuOptions
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import (
    DeploymentOptions,
    install_manifests,
    part_manifests,
)
from quintant.runtime.manager.monitoring import monitoring_manifests

# What is generated from which file; each gets a folder under deploy/.
EXAMPLES = {"greeter": "examples/01_greeter.py", "webhooks": "examples/06_webhooks.py"}
# Where the original's recipe pushes its image: the registry of a microk8s on this machine.
KLIGHT_IMAGE = "localhost:32000/klight.controller:v0.1.0-k8s"
GIVEN = "given-keys"
"""The folder below an operator's in which the keys of its webhooks are somebody else's to make."""
AGENTS = "agents"
"""The folder below an operator's for namespaces in which it makes pods."""
NAMESPACED = "namespaced"
"""The folder below an operator's in which it looks after one namespace, with Roles there."""
MONITORING = "monitoring"
"""The folder below an operator's for clusters with the Prometheus operator and Grafana."""
UPSTREAM = "upstream-agents"
"""The folder below shifu's for sites that keep upstream's agents."""


def program_files() -> dict[Path, str]:
    """Every file for kubectl, and its text."""
    peers = plain_files("klight/peers", {"networkpolicy": [peers_policy()]})
    console = kustomization("console", console_parts(IMAGE))
    return {
        **_examples(), **_operators(), **_upstream_agents(), **_controller(), **peers, **console,
    }  # fmt: skip


def _examples() -> dict[Path, str]:
    found: dict[Path, str] = {}
    for name, source in EXAMPLES.items():
        parts = install_manifests(load_manager(str(ROOT / source)), f"{name}-system")
        found |= plain_files(name, parts)
    return found


def _operators() -> dict[Path, str]:
    """Every operator in full; those with webhooks also for keys that somebody else makes."""
    found: dict[Path, str] = {}
    for name in sorted(OPERATORS):
        manager, home, program = manager_of(name), OPERATORS[name].namespace, _program(name)
        found |= installation(name, operator_parts(name))
        local = operator_parts(name, namespaces=(watched_namespace(name),))
        found |= installation(f"{name}/{NAMESPACED}", local, f"../{CRDS}")
        if manager.webhooks:
            given = whole_program(name, manager, home, replace(program, given_keys=True))
            found |= installation(f"{name}/{GIVEN}", given, f"../{CRDS}")
        found |= kustomization(f"{name}/{MONITORING}", monitoring_manifests(manager, home))
        found |= _agents(name)
        found |= _switched_off(name, part_manifests(manager, home))
    return found


def _agents(name: str) -> dict[Path, str]:
    """Who reaches pods that an operator makes in namespaces of users; to be applied there."""
    program = OPERATORS[name]
    found = [agent_policy(program, each) for each in program.agents if not each.namespace]
    policies = [codec.to_plain(policy) for policy in found]
    return kustomization(f"{name}/{AGENTS}", {"networkpolicy": policies}) if policies else {}


def watched_namespace(name: str) -> str:
    """The one that is looked after where it is one: the first that comes with it, or `default`."""
    return next(iter(OPERATORS[name].namespaces), "default")


def _switched_off(folder: str, parts: Parts) -> dict[Path, str]:
    """The roles of each part of an operator that is off, in a folder of its own."""
    return {
        path: text
        for part, roles in parts.items()
        for path, text in plain_files(f"{folder}/{part}", {"rbac": roles}).items()
    }


def _upstream_agents() -> dict[Path, str]:
    """Shifu for sites that keep upstream's agents, which know of no status subresource."""
    manager, home = Manager("shifu", leader_elect=True), OPERATORS["shifu"].namespace
    shifu.controllers(manager, ShifuOptions(crd_flavor="upstream"))
    program = replace(_program("shifu"), env={"CRD_FLAVOR": "upstream"})
    return installation(f"shifu/{UPSTREAM}", whole_program("shifu", manager, home, program))


def _controller() -> dict[Path, str]:
    """Klight in one file, under the names of its original and for one namespace, as that was."""
    manager = Manager(KLIGHT, namespaces=("default",), leader_elect=True)
    klight.controllers(manager, KlightOptions())
    arguments = ("-inCluster=true", "--namespaces=default")
    program = DeploymentOptions(
        KLIGHT_IMAGE, arguments, memory=OPERATORS["klight"].memory, recreate=True
    )
    found = install_manifests(manager, "default", program)
    text = "---\n".join(to_yaml(part) for name, part in found.items() if name != "namespace")
    return {ROOT / "deploy" / "klight" / "controller.yaml": HEADER + text}


def _program(name: str) -> DeploymentOptions:
    return operator_deployment(name, IMAGE)
