"""The names of `import kopf`, as far as they are here."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Any, Final

from quintant.kopf.declare import lifecycles, on
from quintant.kopf.declare.errors import (
    AdmissionError,
    ErrorsMode,
    HandlerRetriesError,
    HandlerTimeoutError,
    LoginError,
    PermanentError,
    TemporaryError,
)
from quintant.kopf.declare.filters import ABSENT, PRESENT, all_, any_, none_, not_
from quintant.kopf.declare.handlers import Reason
from quintant.kopf.declare.lifecycles import get_default_lifecycle, set_default_lifecycle
from quintant.kopf.declare.on import daemon, index, register, subhandler, timer
from quintant.kopf.declare.registry import (
    OperatorRegistry,
    get_default_registry,
    set_default_registry,
)
from quintant.kopf.declare.resource import EVERYTHING, Resource
from quintant.kopf.declare.settings import OperatorSettings
from quintant.kopf.declare.webhook_servers import (
    WebhookAutoServer,
    WebhookAutoTunnel,
    WebhookDockerDesktopServer,
    WebhookK3dServer,
    WebhookMinikubeServer,
    WebhookNgrokTunnel,
    WebhookServer,
)
from quintant.kopf.persist.essence import (
    AnnotationsDiffBaseStorage,
    DiffBaseStorage,
    MultiDiffBaseStorage,
    StatusDiffBaseStorage,
)
from quintant.kopf.persist.storages import (
    AnnotationsProgressStorage,
    MultiProgressStorage,
    ProgressRecord,
    ProgressStorage,
    SmartProgressStorage,
    StatusProgressStorage,
)
from quintant.kopf.run.hierarchy import (
    adjust_namespace,
    adopt,
    append_owner_reference,
    harmonize_naming,
    label,
    remove_owner_reference,
)
from quintant.kopf.run.login import ConnectionInfo, login_like_kubectl
from quintant.kopf.run.operator import OperatorOptions, run_operator
from quintant.kopf.run.posting import event, exception, info, warn
from quintant.kopf.run.subhandlers import execute
from quintant.kopf.values.body import (
    Body,
    Meta,
    Spec,
    Status,
    object_reference,
    owner_reference,
)
from quintant.kopf.values.diff import Diff, DiffItem, DiffOperation
from quintant.kopf.values.fields import FieldPath, FieldSpec
from quintant.kopf.values.flags import DaemonStopped, DaemonStoppingReason
from quintant.kopf.values.loggers import LocalObjectLogger, ObjectLogger
from quintant.kopf.values.memo import Index, Memo, Store
from quintant.kopf.values.patch import Patch, PatchFn

build_object_reference: Final = object_reference
build_owner_reference: Final = owner_reference
login_via_client: Final = login_like_kubectl
login_via_pykube: Final = login_like_kubectl
login_with_kubeconfig: Final = login_like_kubectl
login_with_service_account: Final = login_like_kubectl
POLL_SECONDS = 0.1
"""Between two looks at a flag of another thread."""

Annotations = Labels = Mapping[str, str]
BodyEssence = RawBody = RawEvent = dict[str, Any]
ObjectReference = OwnerReference = dict[str, Any]
RawEventType = str | None
HandlerId = str
Headers = SSLPeer = UserInfo = Mapping[str, Any]
Operation = str
Logger = logging.Logger | logging.LoggerAdapter[Any]
WebhookClientConfig = WebhookClientConfigService = dict[str, Any]


class LogFormat(Enum):
    """How lines of the log are written; which one is up to `quintant run --log-format`."""

    PLAIN = "plain"
    FULL = "full"
    JSON = "json"


def configure(
    debug: bool | None = None,
    verbose: bool | None = None,
    quiet: bool | None = None,
    log_format: LogFormat = LogFormat.FULL,
    log_prefix: bool | None = False,
    log_refkey: str | None = None,
) -> None:
    """Log to stderr, for a program that has an operator within it."""
    level = logging.DEBUG if debug or verbose else logging.WARNING if quiet else logging.INFO
    logging.basicConfig(level=level, format="[%(asctime)s] %(name)-20s [%(levelname)s] %(message)s")
    logging.getLogger().setLevel(level)


async def operator(
    *,
    lifecycle: Any = None,
    registry: OperatorRegistry | None = None,
    settings: OperatorSettings | None = None,
    memo: Any = None,
    standalone: bool | None = None,
    priority: int | None = None,
    peering_name: str | None = None,
    liveness_endpoint: str | None = None,
    clusterwide: bool = False,
    namespaces: Collection[str] = (),
    namespace: str | None = None,
    stop_flag: Any = None,
    ready_flag: Any = None,
    identity: str = "",
) -> None:
    """Run the operator of the handlers that were declared, until it is cancelled or told to stop.

    Flags are events of asyncio or threading, or futures.
    """
    options = OperatorOptions(
        namespaces=tuple(namespaces) or ((namespace,) if namespace else ()),
        standalone=standalone,
        priority=priority,
        peering_name=peering_name,
        clusterwide=clusterwide,
        liveness=liveness_endpoint or "",
        identity=identity,
        registry=registry,
        settings=settings,
        memo=Memo() if memo is None else memo,
        lifecycle=lifecycle,
    )
    stop = None if stop_flag is None else lambda: _raised(stop_flag)
    await run_operator(options, stop=stop, ready=lambda: _raise(ready_flag))


def run(**given: Any) -> None:
    """Run the operator on a loop of its own."""
    loop = given.pop("loop", None)
    if loop is not None:
        loop.run_until_complete(operator(**given))
    else:
        asyncio.run(operator(**given))


async def _raised(flag: Any) -> None:
    """Wait until a flag is raised, whoever's it is."""
    if isinstance(flag, asyncio.Event):
        await flag.wait()
    elif isinstance(flag, asyncio.Future):
        await asyncio.wait({flag})
    else:
        # It is another thread's, and may be raised by one that knows of no loop.
        while not (flag.is_set() if isinstance(flag, threading.Event) else flag.done()):  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)


def _raise(flag: Any) -> None:
    if flag is None:
        return
    if hasattr(flag, "set_result"):
        flag.set_result(None)
    else:
        flag.set()


__all__ = [
    "ABSENT",
    "EVERYTHING",
    "PRESENT",
    "AdmissionError",
    "Annotations",
    "AnnotationsDiffBaseStorage",
    "AnnotationsProgressStorage",
    "Body",
    "BodyEssence",
    "ConnectionInfo",
    "DaemonStopped",
    "DaemonStoppingReason",
    "Diff",
    "DiffBaseStorage",
    "DiffItem",
    "DiffOperation",
    "ErrorsMode",
    "FieldPath",
    "FieldSpec",
    "HandlerId",
    "HandlerRetriesError",
    "HandlerTimeoutError",
    "Headers",
    "Index",
    "Labels",
    "LocalObjectLogger",
    "LogFormat",
    "Logger",
    "LoginError",
    "Memo",
    "Meta",
    "MultiDiffBaseStorage",
    "MultiProgressStorage",
    "ObjectLogger",
    "ObjectReference",
    "Operation",
    "OperatorRegistry",
    "OperatorSettings",
    "OwnerReference",
    "Patch",
    "PatchFn",
    "PermanentError",
    "ProgressRecord",
    "ProgressStorage",
    "RawBody",
    "RawEvent",
    "RawEventType",
    "Reason",
    "Resource",
    "SSLPeer",
    "SmartProgressStorage",
    "Spec",
    "Status",
    "StatusDiffBaseStorage",
    "StatusProgressStorage",
    "Store",
    "TemporaryError",
    "UserInfo",
    "WebhookAutoServer",
    "WebhookAutoTunnel",
    "WebhookClientConfig",
    "WebhookClientConfigService",
    "WebhookDockerDesktopServer",
    "WebhookK3dServer",
    "WebhookMinikubeServer",
    "WebhookNgrokTunnel",
    "WebhookServer",
    "adjust_namespace",
    "adopt",
    "all_",
    "any_",
    "append_owner_reference",
    "build_object_reference",
    "build_owner_reference",
    "configure",
    "daemon",
    "event",
    "exception",
    "execute",
    "get_default_lifecycle",
    "get_default_registry",
    "harmonize_naming",
    "index",
    "info",
    "label",
    "lifecycles",
    "login_via_client",
    "login_via_pykube",
    "login_with_kubeconfig",
    "login_with_service_account",
    "none_",
    "not_",
    "on",
    "operator",
    "register",
    "remove_owner_reference",
    "run",
    "set_default_lifecycle",
    "set_default_registry",
    "subhandler",
    "timer",
    "warn",
]
