"""The settings of shifu, with the reason for each default.

They come from the environment of the operator's pod: COLLECT_PERIOD and so on. What is a flag of
every operator wins over them.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from quintant.core.errors import ConfigError
from quintant.core.options import Duration, Parser
from quintant.operators.shifu.builders.names import AgentImage
from quintant.operators.shifu.rules.amounts import MEBIBYTE, memory_bytes
from quintant.operators.shifu.rules.images import image_patterns
from quintant.operators.shifu.rules.limits import MoveLimits, PhaseTimes
from quintant.runtime.settings import ManagerOptions
from quintant.version import QUINTANT

IMAGE = f"quintant:{QUINTANT}"
# Our own image holds many programs; the image of another agent starts it by itself.
_OURS = re.compile(r"(?:.*/)?quintant(?::[^/]*)?(?:@.*)?")
_COMMAND = ("quintant", "agent", "deviceshifu")
_LONGEST_RELEASE, _RELEASE_SHARE = 45.0, 0.75
"""Seconds after which an exclusive device is let go, and what part of NODE_LOST_AFTER at most."""
_LEAST_LOST = 1.0
_BURST = 100
"""Writes at once before the rate holds them back: a directory that is applied is not slowed."""

Bytes = Annotated[int, Parser("an amount of memory such as 512Mi", memory_bytes)]
Images = Annotated[
    tuple[str, ...], Parser("images by commas, such as example.dev/drivers/*", image_patterns)
]
Amount = Annotated[float, Parser("a number above zero", lambda text: _positive(text))]


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e9:
        raise ValueError
    return number


class Options(ManagerOptions, frozen=True, kw_only=True):
    """What is decided for all devices at once. Durations are seconds."""

    max_concurrent_reconciles: int = 16
    """MAX_CONCURRENT_RECONCILES: devices worked on at once; an evacuation waits for the server."""
    device_namespaces: tuple[str, ...] = ()
    """DEVICE_NAMESPACES: the only namespaces in which devices are served; empty means all."""
    shifu_namespace: str = "deviceshifu"
    """SHIFU_NAMESPACE: where deviceShifus run."""
    agent_image: str = IMAGE
    """AGENT_IMAGE: what deviceShifus run, unless a device names a program of its own."""
    own_image: str = IMAGE
    """OWN_IMAGE: the image of the operator's own pod, whatever it is called; read from the pod."""
    allowed_images: Images = ()
    """ALLOWED_IMAGES: what devices may name besides, by commas, whole or as `example.dev/x/*`."""
    special_addresses: bool = False
    """SPECIAL_ADDRESSES: let devices be at link-local addresses, where clouds have services."""
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    """SERVICE_TYPE: of the Services in front of deviceShifus; for inside unless told otherwise."""
    cluster_domain: str = "cluster.local"
    """CLUSTER_DOMAIN: the end of every Service's name in the cluster's DNS."""
    collect_period: Duration = 30.0
    """COLLECT_PERIOD: how often memory and CPU of nodes are read: twice a metrics server's."""
    proximity_tolerance: Amount = 50.0
    """PROXIMITY_TOLERANCE: meters within which two nodes are equally near."""
    node_lost_after: Duration = 60.0
    """NODE_LOST_AFTER: how long a node is not ready before its deviceShifus leave."""
    node_stable_after: Duration = 120.0
    """NODE_STABLE_AFTER: how long a node is back before deviceShifus come."""
    guard_expires: Duration = 600.0
    """GUARD_EXPIRES: how long evacuations wait when most nodes are lost at once."""
    reschedule: Literal["on", "evacuate-only", "off"] = "on"
    """RESCHEDULE: whether deviceShifus move: to better places, from lost nodes only, or never."""
    move_budget: int = 20
    """MOVE_BUDGET: moves to better places in one period."""
    move_margin: Amount = 0.25
    """MOVE_MARGIN: by what part of its free memory a node must be beaten."""
    move_margin_bytes: Bytes = 512 * MEBIBYTE
    """MOVE_MARGIN_BYTES: and at least by so much."""
    move_sigma: Amount = 2.0
    """MOVE_SIGMA: by how many standard deviations readings may be off."""
    cooldown: Duration = 600.0
    """COOLDOWN: how long a deviceShifu stays before it may move to a better place."""
    move_timeout: Duration = 300.0
    """MOVE_TIMEOUT: how long it may take to be ready there before it goes back."""
    write_qps: int = 50
    """WRITE_QPS: requests per second; an evacuation must not knock down the server."""
    settle_delay: Duration = 3.0
    """SETTLE_DELAY: how long a new device waits for a Deployment of the user's own."""
    edgenode_mirror: bool = True
    """EDGENODE_MIRROR: make an EdgeNode for every Node that can be one."""
    telemetry_service: bool = False
    """TELEMETRY_SERVICE: run the service behind TelemetryServices."""
    crd_flavor: Literal["ours", "upstream"] = "ours"
    """CRD_FLAVOR: `upstream` is EdgeDevice without a status subresource, for its agents."""
    edgemap_addr: str = "127.0.0.1:8090"
    """EDGEMAP_ADDR: host:port of edgeMap, or `off`; for this machine only unless told otherwise."""
    enable_webhooks: bool = False

    @property
    def agent(self) -> AgentImage:
        """How deviceShifus are started."""
        ours = self.agent_image == self.own_image or _OURS.fullmatch(self.agent_image)
        return AgentImage(self.agent_image, _COMMAND if ours else (), self.special_addresses)

    @property
    def exclusive_release(self) -> float:
        """Seconds after which an agent that is cut off lets go of an exclusive device.

        A node is lost no earlier than `node_lost_after` after it is: the rest is for the agent to
        notice, and for clocks that run at different speeds.
        """
        return min(_LONGEST_RELEASE, _RELEASE_SHARE * self.node_lost_after)

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.node_lost_after < _LEAST_LOST:
            raise ConfigError(
                f"NODE_LOST_AFTER is {self.node_lost_after:g} s",
                because="no agent can let go of an exclusive device before another one starts",
                hint=f"NODE_LOST_AFTER={_LEAST_LOST:g}s or more",
            )

    @property
    def phase_times(self) -> PhaseTimes:
        """How long nodes may be away."""
        return PhaseTimes(self.node_lost_after, self.node_stable_after)

    @property
    def move_limits(self) -> MoveLimits:
        """When a move is worth it."""
        return MoveLimits(
            self.move_budget, self.move_margin, self.move_margin_bytes, self.move_sigma
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What is said about the manager itself."""
        return {**super().settings, "rate": float(self.write_qps), "burst": _BURST}
