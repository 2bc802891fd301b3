"""The settings of infra, with the reason for each default.

They come from the environment of the operator's pod: POLL_MIN and so on. What is a flag of every
operator wins over them.
"""

from __future__ import annotations

from quintant.core.options import Duration
from quintant.runtime.settings import ManagerOptions


class Options(ManagerOptions, frozen=True, kw_only=True):
    """What is decided for all Clusters at once. Durations are seconds."""

    max_concurrent_reconciles: int = 20
    """MAX_CONCURRENT_RECONCILES: Clusters that are worked on at once. None of them waits for the
    provider to finish, so there need not be one per Cluster."""
    poll_min: Duration = 2.0
    """POLL_MIN: until the first look at something that is being made, and after every change."""
    poll_max: Duration = 30.0
    """POLL_MAX: the longest wait between two looks at something that is being made."""
    observe_interval: Duration = 60.0
    """OBSERVE_INTERVAL: between two looks at what is finished, at providers and at clouds."""
    provider_timeout: Duration = 30.0
    """PROVIDER_TIMEOUT: the most that a provider's own `requestTimeout` may be."""
    global_secrets_namespace: str = ""
    """GLOBAL_SECRETS_NAMESPACE: where Secrets of global kinds are. Empty refuses all: a user who
    may create a GlobalCloud could have any Secret of the cluster read."""
    instance_id: str = "quintant"
    """INSTANCE_ID: written on every infrastructure; management clusters that share a provider
    have different ones."""
    dummy_clouds: bool = False
    """DUMMY_CLOUDS: allow clouds that make nothing anywhere, for tests and demos."""
