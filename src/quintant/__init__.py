"""Quintant: the Python controller runtime for Kubernetes.

The public names, loaded when first used, so that a small program pays only for what it touches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from quintant.lazy import lazy

if TYPE_CHECKING:
    from quintant.client.config.config import Config
    from quintant.core import errors
    from quintant.core.clock import Chance, Clock
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
    from quintant.core.resource import Column, Scale, projection, resource
    from quintant.runtime import when
    from quintant.runtime.apply import Policy, control
    from quintant.runtime.builder import Builder
    from quintant.runtime.cache.client import Client
    from quintant.runtime.cache.timeouts import Timers
    from quintant.runtime.context import Context, KeyContext, Reconciler
    from quintant.runtime.controller import Controller
    from quintant.runtime.declaration import by_index
    from quintant.runtime.environment import Environment
    from quintant.runtime.manager import Manager
    from quintant.runtime.result import DONE, Result
    from quintant.runtime.sources import every
    from quintant.runtime.status import StatusWriter

_HOMES = {
    "errors": "quintant.core.errors",
    "when": "quintant.runtime.when",
    "Builder": "quintant.runtime.builder",
    "Chance": "quintant.core.clock",
    "Client": "quintant.runtime.cache.client",
    "Clock": "quintant.core.clock",
    "Column": "quintant.core.resource",
    "Config": "quintant.client.config.config",
    "ConfigError": "quintant.core.errors",
    "Context": "quintant.runtime.context",
    "Controller": "quintant.runtime.controller",
    "Custom": "quintant.core.object",
    "DONE": "quintant.runtime.result",
    "Environment": "quintant.runtime.environment",
    "KeyContext": "quintant.runtime.context",
    "Manager": "quintant.runtime.manager",
    "Metadata": "quintant.core.object",
    "Model": "quintant.core.object",
    "Object": "quintant.core.object",
    "ObjectMeta": "quintant.core.object",
    "Opaque": "quintant.core.object",
    "Policy": "quintant.runtime.apply",
    "Reconciler": "quintant.runtime.context",
    "Request": "quintant.core.object",
    "Result": "quintant.runtime.result",
    "Scale": "quintant.core.resource",
    "StatusWriter": "quintant.runtime.status",
    "Terminal": "quintant.core.errors",
    "Timers": "quintant.runtime.cache.timeouts",
    "by_index": "quintant.runtime.declaration",
    "control": "quintant.runtime.apply",
    "every": "quintant.runtime.sources",
    "has_owner": "quintant.core.owner",
    "owned": "quintant.core.owner",
    "projection": "quintant.core.resource",
    "replace": "quintant.core.object",
    "resource": "quintant.core.resource",
    "with_labels": "quintant.core.owner",
}

__all__ = [
    "DONE",
    "Builder",
    "Chance",
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
