"""token.Manager: service account tokens of pods, requested, and renewed before expiry.

A token is renewed when four fifths of its time have passed, or a day, as a kubelet does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from quintant.api.core import ServiceAccount
from quintant.api.pod import Pod
from quintant.cluster.kubelet.container.lifecycle import Moment
from quintant.cluster.kubelet.volume.projected import MountError, ServiceAccountTokenProjection
from quintant.core.clock import parse_timestamp
from quintant.core.errors import NotFound
from quintant.core.object import ObjectMeta
from quintant.keys.sensitive import Sensitive
from quintant.runtime.cache.client import Client

RENEWED_AFTER = 0.8
LONGEST_SECONDS = 24 * 3600.0
DEFAULT_ACCOUNT = "default"


class CachedToken(Struct, frozen=True):
    """A token, and when to ask for the next."""

    token: Sensitive[str]
    renew: float
    """In the loop's time."""


class TokenManager(Struct):
    """The tokens of one pod."""

    held: dict[ServiceAccountTokenProjection, CachedToken] = field(default_factory=dict)

    async def refresh(
        self, client: Client, pod: Pod, wanted: Iterable[ServiceAccountTokenProjection], now: Moment
    ) -> Mapping[ServiceAccountTokenProjection, str]:
        """Every token that is wanted; those that are old are asked for anew."""
        for source in wanted:
            known = self.held.get(source)
            if known is None or known.renew <= now.mono:
                self.held[source] = await _request_token(client, pod, source, now)
        return {source: held.token.reveal() for source, held in self.held.items()}

    @property
    def due(self) -> float:
        """When the next one has to be asked for."""
        return min((held.renew for held in self.held.values()), default=float("inf"))


async def _request_token(
    client: Client, pod: Pod, source: ServiceAccountTokenProjection, now: Moment
) -> CachedToken:
    meta = pod.metadata
    name = pod.spec.service_account_name or DEFAULT_ACCOUNT
    account = ServiceAccount(metadata=ObjectMeta(name=name, namespace=meta.namespace))
    bound = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid}
    spec = {
        "expirationSeconds": source.expiration_seconds,
        "boundObjectRef": bound,
        **({"audiences": [source.audience]} if source.audience else {}),
    }
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    try:
        answer = await client.subresource(account, "token").post(body)
    except NotFound as error:
        raise MountError(f"failed to fetch token: {error}") from error
    status = answer["status"]
    left = (parse_timestamp(status["expirationTimestamp"]) - now.wall).total_seconds()
    renew = now.mono + min(left * RENEWED_AFTER, LONGEST_SECONDS)
    return CachedToken(Sensitive(status["token"]), renew)
