"""Quintant: the Python controller runtime for Kubernetes.

The public names, loaded when first used, so that a small program pays only for what it touches.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from quintant.lazy import lazy

if sys.version_info < (3, 11, 3):
    import_module("quintant.early_python311").mend_time_limits()

if TYPE_CHECKING:
    from quintant.api.events import PlannedEvent
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
    from quintant.core.resource import Column, Scale, projection, resource
    from quintant.core.schema.preserve_unknown import PreserveUnknown
    from quintant.runtime.apply import Policy, control
    from quintant.runtime.cache.client import Client
    from quintant.runtime.clusters.secrets import SecretClusters
    from quintant.runtime.controller.builder import Builder
    from quintant.runtime.controller.controller import Controller
    from quintant.runtime.controller.declaration import by_index
    from quintant.runtime.manager.environment import Environment
    from quintant.runtime.manager.manager import Manager
    from quintant.runtime.observe.alerts import Alert
    from quintant.runtime.reconcile.conclusion import Conclusion
    from quintant.runtime.reconcile.context import Context, KeyContext, Reconciler
    from quintant.runtime.reconcile.key_locks import KeyLocks
    from quintant.runtime.reconcile.keyed_state import KeyedState
    from quintant.runtime.reconcile.result import DONE, Result
    from quintant.runtime.reconcile.status_writer import StatusWriter
    from quintant.runtime.reconcile.steps import Steps
    from quintant.runtime.shard.layout import Shards, by_namespace
    from quintant.runtime.source import predicates as when
    from quintant.runtime.source.channel import Channel
    from quintant.runtime.source.sources import every
    from quintant.runtime.watch.timeouts import Timers

_HOMES = {
    "PlannedEvent": "quintant.api.events",
    "SecretClusters": "quintant.runtime.clusters.secrets",
    "Shards": "quintant.runtime.shard.layout",
    "by_namespace": "quintant.runtime.shard.layout",
    "KeyLocks": "quintant.runtime.reconcile.key_locks",
    "Steps": "quintant.runtime.reconcile.steps",
    "Channel": "quintant.runtime.source.channel",
    "KeyedState": "quintant.runtime.reconcile.keyed_state",
    "Conclusion": "quintant.runtime.reconcile.conclusion",
    "errors": "quintant.core.errors",
    "when": "quintant.runtime.source.predicates",
    "Alert": "quintant.runtime.observe.alerts",
    "Builder": "quintant.runtime.controller.builder",
    "Random": "quintant.core.clock",
    "Client": "quintant.runtime.cache.client",
    "Clock": "quintant.core.clock",
    "Column": "quintant.core.resource",
    "Config": "quintant.client.config.config",
    "ConfigError": "quintant.core.errors",
    "Context": "quintant.runtime.reconcile.context",
    "Controller": "quintant.runtime.controller.controller",
    "Custom": "quintant.core.object",
    "DONE": "quintant.runtime.reconcile.result",
    "Environment": "quintant.runtime.manager.environment",
    "KeyContext": "quintant.runtime.reconcile.context",
    "Manager": "quintant.runtime.manager.manager",
    "Metadata": "quintant.core.object",
    "Model": "quintant.core.object",
    "Object": "quintant.core.object",
    "ObjectMeta": "quintant.core.object",
    "Opaque": "quintant.core.object",
    "PreserveUnknown": "quintant.core.schema.preserve_unknown",
    "Policy": "quintant.runtime.apply",
    "Reconciler": "quintant.runtime.reconcile.context",
    "Request": "quintant.core.object",
    "Result": "quintant.runtime.reconcile.result",
    "Scale": "quintant.core.resource",
    "StatusWriter": "quintant.runtime.reconcile.status_writer",
    "Terminal": "quintant.core.errors",
    "Timers": "quintant.runtime.watch.timeouts",
    "by_index": "quintant.runtime.controller.declaration",
    "control": "quintant.runtime.apply",
    "every": "quintant.runtime.source.sources",
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
    "Channel",
    "Client",
    "Clock",
    "Column",
    "Conclusion",
    "Config",
    "ConfigError",
    "Context",
    "Controller",
    "Custom",
    "Environment",
    "KeyContext",
    "KeyLocks",
    "KeyedState",
    "Manager",
    "Metadata",
    "Model",
    "Object",
    "ObjectMeta",
    "Opaque",
    "PlannedEvent",
    "Policy",
    "PreserveUnknown",
    "Random",
    "Reconciler",
    "Request",
    "Result",
    "Scale",
    "SecretClusters",
    "Shards",
    "StatusWriter",
    "Steps",
    "Terminal",
    "Timers",
    "by_index",
    "by_namespace",
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


__getattr__: Final = lazy(__name__, _HOMES, modules=("errors", "when"))


def __dir__() -> list[str]:
    return __all__
