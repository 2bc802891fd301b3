"""What a device should have, and what it should not have any more. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Service, Toleration
from quintant.core.clock import timestamp
from quintant.core.object import Object
from quintant.operators.shifu.builders.config import config_hash, driver_image, generated_config
from quintant.operators.shifu.builders.deployment import PlacedDevice, deployment
from quintant.operators.shifu.builders.environment import MountedSecret
from quintant.operators.shifu.builders.names import config_name
from quintant.operators.shifu.builders.ports import service
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.views import ShifuPod
from quintant.operators.shifu.options import Options
from quintant.operators.shifu.plan.device import Choice, placement_digest
from quintant.operators.shifu.rules.serving import beside_driver


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
    if choice.kept:
        return WantedChildren(choice.node, stuck=stuck)
    if not choice.cause and observed.node is not None and observed.node.phase is None:
        # Its node is unknown, so is what it should tolerate there: it is left as it is.
        return WantedChildren(choice.node, stuck=stuck)
    placed = placed_device(observed, choice, tolerations, options.exclusive_release)
    namespace = options.shifu_namespace
    generated = observed.config is None
    return WantedChildren(
        choice.node,
        config=generated_config(observed.device, namespace) if generated else None,
        deployment=deployment(placed, options.agent, namespace),
        service=service(observed.device, namespace, options.service_type),
        surplus=() if generated or observed.generated is None else (observed.generated,),
        stuck=stuck,
    )


def placed_device(
    observed: Observed,
    choice: Choice,
    tolerations: tuple[Toleration, ...] = (),
    release: float | None = None,
) -> PlacedDevice:
    """Everything that the deviceShifu of a device with a node is made from."""
    before, device, decision = observed.deployment, observed.device, choice.decision
    same = not choice.cause and before is not None
    own = device.spec.device_shifu is not None and device.spec.device_shifu.image
    driver = driver_image(observed.config_data) if beside_driver(device) else ""
    config = observed.config
    return PlacedDevice(
        device,
        observed.hints,
        choice.node,
        kind=before.kind if same and before else decision.kind if decision else "",
        placed_at=before.placed_at if same and before else timestamp(observed.now),
        placed_for=placement_digest(observed.hints),
        previous=before.previous if same and before else choice.previous,
        config_map=config.metadata.name if config is not None else config_name(device.key),
        driver_image=driver,
        secret=_secret(observed),
        config_hash=config_hash(device, observed.config_data) if driver or own else "",
        tolerations=tolerations,
        reason=before.reason if same and before else decision.reason if decision else "",
        moves=(before.moves if before else 0) + choice.moved,
        moved_for=before.moved_for if same and before else choice.moved_for,
        release=release if observed.hints.exclusive else None,
    )


def _secret(observed: Observed) -> MountedSecret | None:
    use = observed.secret
    if use is None or use.secret is None or not use.shared:
        return None
    return MountedSecret(use.secret.metadata.name, use.consumer)


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
