"""Quintant: the Python controller runtime for Kubernetes.

The public names, loaded when first used, so that a small program pays only for what it touches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quintant.lazy import lazy

if TYPE_CHECKING:
    from quintant.client.config.config import Config
    from quintant.core import errors
    from quintant.core.clock import Clock, Random
    from quintant.core.errors import ConfigError, Terminal
    from quintant.core.object import (
        Custom,
        Metadata,
        Model,
        Object,
        ObjectMeta,
        Opaque,
        Request,
        replace,
    )
    from quintant.core.owner import has_owner, owned, with_labels
    from quintant.core.preserve_unknown import PreserveUnknown
    from quintant.core.resource import Column, Scale, projection, resource
    from quintant.runtime.apply import Policy, control
    from quintant.runtime.cache.client import Client
    from quintant.runtime.cache.timeouts import Timers
    from quintant.runtime.controller import predicates as when
    from quintant.runtime.controller.builder import Builder
    from quintant.runtime.controller.context import Context, KeyContext, Reconciler
    from quintant.runtime.controller.controller import Controller
    from quintant.runtime.controller.declaration import by_index
    from quintant.runtime.controller.result import DONE, Result
    from quintant.runtime.controller.sources import every
    from quintant.runtime.controller.status_writer import StatusWriter
    from quintant.runtime.manager.environment import Environment
    from quintant.runtime.manager.manager import Manager
    from quintant.runtime.observe.alerts import Alert

_HOMES = {
    "errors": "quintant.core.errors",
    "when": "quintant.runtime.controller.predicates",
    "Alert": "quintant.runtime.observe.alerts",
    "Builder": "quintant.runtime.controller.builder",
    "Random": "quintant.core.clock",
    "Client": "quintant.runtime.cache.client",
    "Clock": "quintant.core.clock",
    "Column": "quintant.core.resource",
    "Config": "quintant.client.config.config",
    "ConfigError": "quintant.core.errors",
    "Context": "quintant.runtime.controller.context",
    "Controller": "quintant.runtime.controller.controller",
    "Custom": "quintant.core.object",
    "DONE": "quintant.runtime.controller.result",
    "Environment": "quintant.runtime.manager.environment",
    "KeyContext": "quintant.runtime.controller.context",
    "Manager": "quintant.runtime.manager.manager",
    "Metadata": "quintant.core.object",
    "Model": "quintant.core.object",
    "Object": "quintant.core.object",
    "ObjectMeta": "quintant.core.object",
    "Opaque": "quintant.core.object",
    "PreserveUnknown": "quintant.core.preserve_unknown",
    "Policy": "quintant.runtime.apply",
    "Reconciler": "quintant.runtime.controller.context",
    "Request": "quintant.core.object",
    "Result": "quintant.runtime.controller.result",
    "Scale": "quintant.core.resource",
    "StatusWriter": "quintant.runtime.controller.status_writer",
    "Terminal": "quintant.core.errors",
    "Timers": "quintant.runtime.cache.timeouts",
    "by_index": "quintant.runtime.controller.declaration",
    "control": "quintant.runtime.apply",
    "every": "quintant.runtime.controller.sources",
    "has_owner": "quintant.core.owner",
    "owned": "quintant.core.owner",
    "projection": "quintant.core.resource",
    "replace": "quintant.core.object",
    "resource": "quintant.core.resource",
    "with_labels": "quintant.core.owner",
}

__all__ = [
    "DONE",
    "Alert",
    "Builder",
    "Client",
    "Clock",
    "Column",
    "Config",
    "ConfigError",
    "Context",
    "Controller",
    "Custom",
    "Environment",
    "KeyContext",
    "Manager",
    "Metadata",
    "Model",
    "Object",
    "ObjectMeta",
    "Opaque",
    "Policy",
    "PreserveUnknown",
    "Random",
    "Reconciler",
    "Request",
    "Result",
    "Scale",
    "StatusWriter",
    "Terminal",
    "Timers",
    "by_index",
    "control",
    "errors",
    "every",
    "has_owner",
    "owned",
    "projection",
    "replace",
    "resource",
    "when",
    "with_labels",
]


__getattr__ = lazy(__name__, _HOMES, modules=("errors", "when"))


def __dir__() -> list[str]:
    return __all__
