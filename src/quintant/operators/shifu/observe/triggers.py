"""What wakes a device: which changes count, and whose they are."""

from __future__ import annotations

from collections.abc import Iterable

from quintant.core.object import Object, Request
from quintant.operators.shifu.observe.reader import CONFIG_INDEX
from quintant.operators.shifu.observed.device_view import DeviceView
from quintant.operators.shifu.observed.interned import device_text
from quintant.operators.shifu.observed.views import (
    ShifuConfig,
    ShifuDeployment,
    ShifuPod,
    ShifuService,
)
from quintant.operators.shifu.rules.config_names import config_words, short_name, wanted_words
from quintant.operators.shifu.rules.hints import Device, hint_aspects, resolve_hints
from quintant.operators.shifu.topology.topology import DEVICE_INDEX, Topology
from quintant.runtime.source import predicates

Child = ShifuDeployment | ShifuPod | ShifuService | ShifuConfig

DEVICE_CHANGED: predicates.When[DeviceView] = predicates.changed(
    lambda device: (device.spec, hint_aspects(device), _status_aspects(device))
)
"""What of a device matters where upstream's agents move its generation with every report."""
SPEC_CHANGED: predicates.When[DeviceView] = DEVICE_CHANGED | predicates.generation
"""What matters where only a spec moves it: the status names the generation that it is about."""
CHILD_CHANGED: predicates.When[Child] = predicates.changed(lambda child: _aspects(child))


def itself(device: Object) -> tuple[Request, ...]:
    """A device wakes itself."""
    return (device.key,)


def no_requests(_: Object) -> tuple[Request, ...]:
    """None: which keys a change of a node wakes, the topology decides."""
    return ()


def device_of(child: Child) -> tuple[Request, ...]:
    """The device that an object is for."""
    return (child.device,) if child.device is not None else ()


def device_values(child: Child) -> tuple[str, ...]:
    """Where the index of devices files an object."""
    return (device_text(child.device),) if child.device is not None else ()


def config_values(config: ShifuConfig) -> tuple[str, ...]:
    """Where the index of instructions files a ConfigMap: only those of users are found there."""
    if config.device is not None:
        return ()
    words = (*config_words(config.metadata.name), short_name(config.labelled))
    return tuple(word for word in dict.fromkeys(words) if word)


def device_words(device: Device) -> tuple[str, ...]:
    """Where the same index files a device: by what its ConfigMap may be called."""
    return tuple(sorted(wanted_words(device, resolve_hints(device))))


BY_DEVICE = {DEVICE_INDEX: device_values}
BY_WORD = {CONFIG_INDEX: device_words}
BY_CONFIG = {DEVICE_INDEX: device_values, CONFIG_INDEX: config_values}


class Triggers:
    """Those that need to know more than the object at hand."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology

    def of_config(self, config: ShifuConfig) -> Iterable[Request]:
        """The devices that a ConfigMap may be for."""
        if config.device is not None:
            return (config.device,)
        index = self._topology.store(self._topology.kind).index(CONFIG_INDEX)
        return [key for word in config_values(config) for key in index.keys(word)]


def _status_aspects(device: DeviceView) -> object:
    """What others write in the status that a decision depends on, and what we wrote.

    That may change without us: by a user who edits it, or by a write of ours whose answer was
    lost, and which was made before something that we know by now.
    """
    status = device.status
    phase = (status.phase == "", status.phase == "Unknown") if status is not None else None
    return phase, device.status_digest


def _aspects(child: Child) -> object:
    meta = child.metadata
    if isinstance(child, ShifuPod):
        return child.ready, child.simulated, child.node, child.deleting, child.unscheduled_since
    if isinstance(child, ShifuDeployment):
        return (
            child.node, child.available, child.deleting, child.drifted, child.placed_for,
            child.managed, child.owner, child.revision,
        )  # fmt: skip
    return meta.resource_version
