"""Clusters from Secrets at home: each Secret with certain labels holds the kubeconfig of one.

    Secret made, changed, deleted ──▶ read as a stranger's kubeconfig ──▶ offer, withdraw

Who may write such a Secret names the server that this program speaks to, and nothing more: what
would start a program, read a file, or trust or ask somebody else is refused, with an event on the
Secret, and so is what is no kubeconfig. A Secret that goes, or loses its labels, takes the keys of
its cluster along; what is in that cluster stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from quintant.api.core import Secret
from quintant.api.events import Event
from quintant.api.meta import ObjectReference
from quintant.client.config.config import Config
from quintant.core.errors import ConfigError
from quintant.core.object import ObjectMeta, Request
from quintant.core.resource import projection
from quintant.core.text import one_line
from quintant.runtime.cache.informer import Informer, ObjectChange
from quintant.runtime.clusters.provider import LIMITS, ClusterOffer, ClusterSink, ProviderHome
from quintant.runtime.controller.declaration import PermissionUse
from quintant.runtime.controller.namespaces import legal_namespaces, legal_selector
from quintant.runtime.observe import logs
from quintant.runtime.remote import RemoteLimits

log: Final = logs.get_logger()

SELECTOR = "quintant.dev/cluster=true"
KEY = "kubeconfig"


@projection(of=Secret)
class KubeconfigSecret(Secret):
    """A Secret with a kubeconfig, in a cache of its own."""


class SecretClusters:
    """Follows Secrets that hold kubeconfigs: `manager.clusters(SecretClusters())`."""

    def __init__(
        self,
        selector: str = SELECTOR,
        *,
        key: str = KEY,
        namespaces: Sequence[str] = (),
        trusted: bool = False,
        insecure: bool = False,
        limits: RemoteLimits = LIMITS,
    ) -> None:
        """Take the Secrets with these labels, in these namespaces only; `key` holds the kubeconfig.

        Say `trusted` only where none but administrators write them: then a kubeconfig may start a
        login program, name files of this process, and a proxy. `insecure` allows http:// and
        servers whose certificate is not checked. `limits` are what each cluster may cost.
        """
        self._limits = limits
        self._labels = legal_selector(selector, "SecretClusters")
        self._key, self._trusted, self._insecure = key, trusted, insecure
        self._namespaces = legal_namespaces("SecretClusters", namespaces)

    @property
    def uses(self) -> tuple[PermissionUse, ...]:
        """To read Secrets, and to say there how their clusters are.

        A role cannot be held to labels, only to namespaces.
        """
        return (
            PermissionUse(Secret, ("get", "list", "watch"), namespaces=self._namespaces),
            PermissionUse(Event, ("create", "patch"), namespaces=self._namespaces),
        )

    async def run(self, home: ProviderHome) -> None:
        """Offer and withdraw clusters until cancelled."""
        informer = Informer(
            home.rest,
            KubeconfigSecret,
            random=home.random,
            namespaces=self._namespaces,
            labels=self._labels,
            timers=home.timers,
        )
        home.informers.append(informer)
        _Following(self, informer, home.sink)
        await informer.run()

    def name_of(self, secret: ObjectMeta) -> str:
        """What the cluster of a Secret is called; the same for as long as it is the same."""
        # A namespace has no dot, so no two Secrets make one name.
        return f"{secret.namespace}.{secret.name}"

    def offer_of(self, secret: KubeconfigSecret) -> ClusterOffer:
        """What is said of the cluster of a Secret."""
        meta = secret.metadata
        try:
            text = secret.reveal(self._key)
        except KeyError:
            return self.refused(meta, f"the Secret has no {self._key}", "")
        except ValueError:
            return self.refused(meta, f"its {self._key} is not base64", "")
        version = f"{meta.uid} {sha256(text).hexdigest()}"
        try:
            config = Config.from_bytes(
                text,
                source=f"Secret {secret.key}",
                insecure=self._insecure,
                trusted=self._trusted,
            )
        except ConfigError as error:
            return self.refused(meta, one_line(str(error)), version)
        return ClusterOffer(self.name_of(meta), config, version, "", _reference(meta), self._limits)

    def refused(self, meta: ObjectMeta, why: str, version: str) -> ClusterOffer:
        """What is said of a Secret that cannot be used."""
        return ClusterOffer(self.name_of(meta), None, f"{version} {why}", why, _reference(meta))


class _Following:
    """One run of a provider: what it has offered of each Secret."""

    def __init__(
        self, provider: SecretClusters, informer: Informer[KubeconfigSecret], sink: ClusterSink
    ) -> None:
        self._provider, self._informer, self._sink = provider, informer, sink
        self._names: dict[Request, str] = {}
        self._keys: dict[str, Request] = {}
        """The Secret of each cluster: another that would be called the same is not taken."""
        informer.subscribe(self._changed)
        informer.on_undecodable(self._unreadable)

    def _changed(self, change: ObjectChange[KubeconfigSecret]) -> None:
        if change.new is not None:
            self._take(change.new.key, self._provider.offer_of(change.new))
        elif change.old is not None:
            self._drop(change.old.key)

    def _unreadable(self, key: Request) -> None:
        unfit = self._informer.undecodable.get(key)
        if unfit is not None:
            why = "the Secret cannot be decoded"
            self._take(key, self._provider.refused(unfit.meta, why, ""))
        elif self._informer.store.get(key) is None:
            self._drop(key)

    def _take(self, key: Request, offer: ClusterOffer) -> None:
        name = offer.name
        if self._names.get(key, name) != name:
            self._drop(key)
        if self._keys.get(name, key) != key:
            log.error("a cluster has two Secrets", cluster=name, used=str(self._keys[name]))
            return
        self._names[key], self._keys[name] = name, key
        self._sink.offer(offer, self)

    def _drop(self, key: Request) -> None:
        if (name := self._names.pop(key, None)) is not None:
            del self._keys[name]
            self._sink.withdraw(name, self)


def _reference(meta: ObjectMeta) -> ObjectReference:
    return ObjectReference(
        api_version="v1",
        kind="Secret",
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
    )
