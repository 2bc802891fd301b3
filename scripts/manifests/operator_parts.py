"""The objects of an operator, as they are installed by default."""

from __future__ import annotations

from manifests.kustomize import Parts
from quintant.cli.operators.manifests import IMAGE, operator_deployment, operator_policies
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.manifests import DeploymentOptions, install_manifests


def operator_parts(
    name: str, *, home: str = "", image: str = IMAGE, namespaces: tuple[str, ...] = ()
) -> Parts:
    """The objects of an operator by what they are about, cluster-wide or for some namespaces."""
    program = operator_deployment(name, image, None, namespaces)
    manager = manager_of(name, namespaces)
    return whole_program(name, manager, home or OPERATORS[name].namespace, program)


def whole_program(name: str, manager: Manager, home: str, program: DeploymentOptions) -> Parts:
    """The objects of an operator in any of its variants, with its NetworkPolicies."""
    policies = {"networkpolicy": operator_policies(name, manager, home)}
    return install_manifests(manager, home, program) | policies
