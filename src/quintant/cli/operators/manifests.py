"""`quintant manifests`: what a cluster needs before a manager can run in it, as YAML.

With an image it is everything, the program included: `quintant manifests … | kubectl apply -f -`.
"""

from __future__ import annotations

from typing import Any

import click

from quintant.core import codec
from quintant.core.errors import ConfigError
from quintant.core.yaml.dump import to_yaml
from quintant.operators import OPERATORS, manager_of
from quintant.operators.network_policy import agent_policy, operator_policy
from quintant.preview.role import preview_rbac
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import RESTRICTED, DeploymentOptions, install_manifests
from quintant.runtime.manager.monitoring import monitoring_manifests
from quintant.runtime.manager.rbac import other_cluster_rbac
from quintant.version import QUINTANT

_DEFAULT = "default"
_ELECTS = "--leader-elect"
"""How replicas share the work, unless they are members of shards."""
IMAGE = f"quintant:{QUINTANT}"
"""What our own operators, and the pods that they make, run by default."""
# Two replicas of an operator, of which one works and one waits.
OPERATOR_REPLICAS = 2


@click.command("manifests")
@click.argument("target", metavar="OPERATOR_MODULE_OR_FILE")
@click.option(
    "--namespace",
    "-n",
    default="",
    help="Where the program itself will live: default, or with --image NAME-system.",
)
@click.option("--image", help="Its image, whose entry point is quintant: print a Deployment, too.")
@click.option(
    "--replicas",
    type=click.IntRange(min=1),
    help="Of which one works at a time: 1, and 2 of our own operators.",
)
@click.option(
    "--watch-namespace",
    "watched",
    multiple=True,
    metavar="NAME",
    help="Look after this namespace only, with roles for no other; repeatable.",
)
@click.option(
    "--shards",
    is_flag=True,
    help="All replicas of an operator work, each on objects of its own (not shifu).",
)
@click.option(
    "--monitoring",
    is_flag=True,
    help="Print a PodMonitor, a PrometheusRule and a Grafana dashboard, too.",
)
@click.option(
    "--preview",
    is_flag=True,
    help="Print the role for quintant preview instead: it reads, and nothing else.",
)
@click.option(
    "--other-clusters",
    "elsewhere",
    is_flag=True,
    help="Print the account and roles for the other clusters that it works in instead.",
)
def command(
    target: str,
    namespace: str,
    image: str | None,
    replicas: int | None,
    watched: tuple[str, ...],
    shards: bool,
    monitoring: bool,
    preview: bool,
    elsewhere: bool,
) -> None:
    """Print what kubectl apply needs to install a program.

    The roles hold what the controllers declare, and nothing else. Webhooks are expected behind a
    Service with the manager's name. Pods keep to the restricted Pod Security level.
    """
    manager = _load(target, watched, shards=shards)
    if watched:
        manager.configure(namespaces=watched)
    home, program = namespace or _DEFAULT, None
    if preview:
        click.echo(to_yaml(map(codec.to_plain, preview_rbac(manager, home))), nl=False)
        return
    if elsewhere:
        roles = other_cluster_rbac(manager.settings, manager.declarations, home)
        click.echo(to_yaml(map(codec.to_plain, roles)), nl=False)
        return
    if image:
        manager.configure(leader_elect=not shards)
        home = namespace or f"{manager.name}-system"
        make = operator_deployment if target in OPERATORS else _deployment
        program = make(target, image, replicas, watched, "--shards" if shards else _ELECTS)
    found = manifests(manager, home, program)
    if program and target in OPERATORS:
        found |= {"networkpolicy": to_yaml(operator_policies(target, manager, home))}
    if home == _DEFAULT:
        found.pop("namespace", None)
    if monitoring:
        found |= monitoring_texts(manager, home)
    click.echo("---\n".join(found.values()), nl=False)


def manifests(
    manager: Manager, namespace: str, program: DeploymentOptions | None = None
) -> dict[str, str]:
    """The manifests of a manager that lives in a namespace, by what they are about."""
    found = install_manifests(manager, namespace, program)
    return {part: to_yaml(objects) for part, objects in found.items()}


def operator_policies(name: str, manager: Manager, namespace: str) -> list[dict[str, Any]]:
    """Who reaches one of our own operators, and those of its agents that have a namespace."""
    program = OPERATORS[name]
    own = operator_policy(program, namespace, webhooks=bool(manager.webhooks))
    agents = (agent_policy(program, each) for each in program.agents if each.namespace)
    return [codec.to_plain(policy) for policy in (own, *agents)]


def monitoring_texts(manager: Manager, namespace: str) -> dict[str, str]:
    """What watches over a manager that lives in a namespace, by what it is."""
    found = monitoring_manifests(manager, namespace)
    return {part: to_yaml(objects) for part, objects in found.items()}


def operator_deployment(
    name: str,
    image: str,
    replicas: int | None = None,
    watched: tuple[str, ...] = (),
    shares: str = _ELECTS,
) -> DeploymentOptions:
    """How one of our own operators is started; the pods that it makes have its own image."""
    program = OPERATORS[name]
    return DeploymentOptions(
        image,
        ("operator", name, shares, *_only(watched)),
        replicas or OPERATOR_REPLICAS,
        memory=program.memory,
        namespaces=program.namespaces,
        pod_security=RESTRICTED,
        reads_image=bool(program.image_variable),
    )


def _deployment(
    target: str, image: str, replicas: int | None, watched: tuple[str, ...], shares: str
) -> DeploymentOptions:
    return DeploymentOptions(
        image,
        ("run", target, shares, *_only(watched)),
        replicas or 1,
        pod_security=RESTRICTED,
        metrics_service=True,
    )


def _load(target: str, watched: tuple[str, ...], *, shards: bool) -> Manager:
    if target in OPERATORS:
        return manager_of(target, watched, shards=shards)
    if shards:
        raise ConfigError(
            f"{target} is not sharded by an option",
            because="whether its controllers can be is for their author to say",
            hint='Manager("name", shards=True)',
        )
    return load_manager(target)


def _only(watched: tuple[str, ...]) -> list[str]:
    return [f"--namespace={name}" for name in watched]
