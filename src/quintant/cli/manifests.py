"""`quintant manifests`: what a cluster needs before a manager can run in it, as YAML.

With an image it is everything, the program included: `quintant manifests … | kubectl apply -f -`.
"""

from __future__ import annotations

import click

from quintant.core.yaml.dump import to_yaml
from quintant.runtime.manager.loading import load_manager
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import RESTRICTED, DeploymentOptions, install_manifests
from quintant.runtime.manager.monitoring import monitoring_manifests

_DEFAULT = "default"


@click.command("manifests")
@click.argument("target", metavar="MODULE_OR_FILE")
@click.option(
    "--namespace",
    "-n",
    default="",
    help="Where the program itself will live: default, or with --image NAME-system.",
)
@click.option("--image", help="Its image, whose entry point is quintant: print a Deployment, too.")
@click.option("--replicas", default=1, show_default=True, help="Of which one works at a time.")
@click.option(
    "--watch-namespace",
    "watched",
    multiple=True,
    metavar="NAME",
    help="Look after this namespace only, with roles for no other; repeatable.",
)
@click.option(
    "--monitoring",
    is_flag=True,
    help="Print a PodMonitor, a PrometheusRule and a Grafana dashboard, too.",
)
def command(
    target: str,
    namespace: str,
    image: str | None,
    replicas: int,
    watched: tuple[str, ...],
    monitoring: bool,
) -> None:
    """Print what kubectl apply needs to install a module or file.

    The roles hold what the controllers declare, and nothing else. Webhooks are expected behind a
    Service with the manager's name. Pods keep to the restricted Pod Security level.
    """
    manager = load_manager(target)
    if watched:
        manager.configure(namespaces=watched)
    home, program = namespace or _DEFAULT, None
    if image:
        manager.configure(leader_elect=True)
        home = namespace or f"{manager.name}-system"
        program = _program(image, target, replicas, watched)
    found = manifests(manager, home, program)
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


def monitoring_texts(manager: Manager, namespace: str) -> dict[str, str]:
    """What watches over a manager that lives in a namespace, by what it is."""
    found = monitoring_manifests(manager, namespace)
    return {part: to_yaml(objects) for part, objects in found.items()}


def _program(image: str, target: str, replicas: int, watched: tuple[str, ...]) -> DeploymentOptions:
    only = [f"--namespace={name}" for name in watched]
    return DeploymentOptions(
        image,
        ("run", target, "--leader-elect", *only),
        replicas,
        pod_security=RESTRICTED,
        metrics_service=True,
    )
