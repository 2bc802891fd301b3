"""What an operator may set in a startup handler: `settings.posting.level = logging.ERROR`.

Every section and name of kopf is there, so that handlers may set them; which of them change
anything here is in docs/from-kopf.md. A name that kopf does not have is an error.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from quintant.kopf.persist.essence import AnnotationsDiffBaseStorage, DiffBaseStorage
from quintant.kopf.persist.storages import ProgressStorage, SmartProgressStorage

_BACKOFFS = (1, 1, 2, 3, 5, 8, 13, 21)


@dataclass(slots=True)
class ProcessSettings:
    """How the process ends."""

    ultimate_exiting_timeout: float | None = 600


@dataclass(slots=True)
class PostingSettings:
    """Events about objects."""

    enabled: bool = True
    loggers: bool = False
    level: int = logging.INFO
    default_backoffs: float | Iterable[float] = _BACKOFFS
    logging_backoffs: float | Iterable[float] = (1, 1, 2, 3, 5)
    worker_limit: int | None = None
    idle_timeout: float = 1.0
    reporting_component: str = "kopf"
    reporting_instance: str = "dev"
    event_name_prefix: str = "kopf-event-"


@dataclass(slots=True)
class PeeringSettings:
    """Other operators for the same objects."""

    name: str = "default"
    stealth: bool = False
    priority: int = 0
    lifetime: int = 60
    mandatory: bool = False
    standalone: bool = False
    clusterwide: bool = False

    @property
    def namespaced(self) -> bool:
        return not self.clusterwide

    @namespaced.setter
    def namespaced(self, value: bool) -> None:
        self.clusterwide = not value


@dataclass(slots=True)
class WatchingSettings:
    """Connections of watches."""

    server_timeout: float | None = None
    client_timeout: float | None = None
    connect_timeout: float | None = None
    reconnect_backoff: float = 0.1
    inactivity_timeout: float = 70.0
    chunk_size: int | None = None
    initial_streaming: bool = False


@dataclass(slots=True)
class QueueingSettings:
    """Objects that wait for their turn."""

    worker_limit: int | None = None
    idle_timeout: float = 5.0
    exit_timeout: float = 2.0
    error_delays: Iterable[float] = (*_BACKOFFS, 34, 55, 89, 144, 233, 377, 610)
    batch_window: float = 0.1


@dataclass(slots=True)
class ScanningSettings:
    """Whether kinds and namespaces that come later are looked for."""

    disabled: bool = False


@dataclass(slots=True)
class AdmissionSettings:
    """Webhooks: who serves them, and the configuration that is kept."""

    server: Any = None
    managed: str | None = None


@dataclass(slots=True)
class ExecutionSettings:
    """Calls of handlers."""

    default_backoff: float = 60
    executor: Executor | None = None
    """None: a thread for each call, `max_workers` at once if that is set."""
    max_workers: int | None = None


@dataclass(slots=True)
class NetworkingSettings:
    """Requests to the API server."""

    request_timeout: float | None = 300
    connect_timeout: float | None = None
    error_backoffs: float | Iterable[float] = _BACKOFFS
    enforce_retry_after: bool = False
    trust_env: bool = False


@dataclass(slots=True)
class PersistenceSettings:
    """What is kept on objects."""

    finalizer: str = "kopf.zalando.org/KopfFinalizerMarker"
    progress_storage: ProgressStorage = field(default_factory=SmartProgressStorage)
    diffbase_storage: DiffBaseStorage = field(default_factory=AnnotationsDiffBaseStorage)
    consistency_timeout: float = 5.0


@dataclass(slots=True)
class BackgroundSettings:
    """Daemons that are to end."""

    cancellation_polling: float = 60
    instant_exit_timeout: float | None = None
    instant_exit_zero_time_cycles: int | None = 10


@dataclass(slots=True)
class OperatorSettings:
    """All sections."""

    process: ProcessSettings = field(default_factory=ProcessSettings)
    posting: PostingSettings = field(default_factory=PostingSettings)
    peering: PeeringSettings = field(default_factory=PeeringSettings)
    watching: WatchingSettings = field(default_factory=WatchingSettings)
    queueing: QueueingSettings = field(default_factory=QueueingSettings)
    scanning: ScanningSettings = field(default_factory=ScanningSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    execution: ExecutionSettings = field(default_factory=ExecutionSettings)
    background: BackgroundSettings = field(default_factory=BackgroundSettings)
    networking: NetworkingSettings = field(default_factory=NetworkingSettings)
    persistence: PersistenceSettings = field(default_factory=PersistenceSettings)

    @property
    def batching(self) -> QueueingSettings:
        """The older name of `queueing`."""
        return self.queueing
