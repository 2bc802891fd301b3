"""A pod as a controller that follows many of them would declare it: only what it reads."""

from __future__ import annotations

import msgspec

from quintant import Model, Object, projection
from quintant.api.core import Pod


class Condition(Model):
    """Whether something is so."""

    type: str
    status: str = ""


class PodViewSpec(Model):
    """Where it runs."""

    node_name: str = ""


class PodViewStatus(Model):
    """How it does."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[Condition, ...] = ()


@projection(Pod)
class PodView(Object):
    """Metadata, node, phase, address and conditions."""

    spec: PodViewSpec = PodViewSpec()
    status: PodViewStatus = PodViewStatus()
