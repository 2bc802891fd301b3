"""What a device should have, and what it should not have any more. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Service, Toleration
from quintant.core.object import Object
from quintant.operators.shifu.builders.config import generated_config
from quintant.operators.shifu.builders.deployment import deployment
from quintant.operators.shifu.builders.ports import service
from quintant.operators.shifu.observe.reader import Observed
from quintant.operators.shifu.observe.views import ShifuPod
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.device import Choice, placed_device


@dataclass(frozen=True, slots=True)
class WantedChildren:
    """The objects of a device as they should be; None leaves what is there as it is."""

    node: str = ""
    config: ConfigMap | None = None
    deployment: Deployment | None = None
    service: Service | None = None
    surplus: tuple[Object, ...] = ()
    """What is to go."""
    stuck: tuple[ShifuPod, ...] = ()
    """Pods that hang on nodes on which nothing runs any more."""


def compose(
    observed: Observed, choice: Choice, options: Options, tolerations: tuple[Toleration, ...] = ()
) -> WantedChildren:
    """Everything that follows from where a device is to be."""
    if not choice.node:
        return WantedChildren(surplus=_surplus(observed, choice))
    stuck = _stuck(observed, choice)
    if not choice.cause and observed.node is not None and observed.node.phase is None:
        # Its node is unknown, so is what it should tolerate there: it is left as it is.
        return WantedChildren(choice.node, stuck=stuck)
    placed, place = placed_device(observed, choice, tolerations), options.shifu_namespace
    generated = observed.config is None
    return WantedChildren(
        choice.node,
        config=generated_config(observed.device, place) if generated else None,
        deployment=deployment(placed, options.agent, place),
        service=service(observed.device, place, options.service_type),
        surplus=() if generated or observed.generated is None else (observed.generated,),
        stuck=stuck,
    )


def _surplus(observed: Observed, choice: Choice) -> tuple[Object, ...]:
    """What of ours is to go where the user looks after a device, or it can be served no more."""
    if choice.settling or choice.refused is not None:
        return ()
    found = (observed.deployment, observed.service, observed.generated)
    return tuple(each for each in found if each is not None)


def _stuck(observed: Observed, choice: Choice) -> tuple[ShifuPod, ...]:
    return tuple(
        pod
        for pod in observed.pods
        if pod.managed and pod.node in observed.lost_nodes and pod.node != choice.node
    )
