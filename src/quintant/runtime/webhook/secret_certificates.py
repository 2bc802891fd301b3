"""A serving certificate that the replicas of a program share, in a Secret of their own.

    no Secret ──made by the first replica──> rotation in the Secret ──published──> shown by all

Every replica reads the Secret again and again, and shows what is in it. One that sees that the
rotation is due takes the next step, if no other did meanwhile; but not before what is there is
published, so that no replica shows what no API server trusts. A Secret that was deleted, or that
cannot be read, is written again with a new certificate, which comes after the one that is shown.

The Secret is created by server-side apply, for only there a role can say which name may be created.
Every replica applies as a field manager of its own, so that the second one is refused.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from quintant.api.core import Secret
from quintant.core.clock import Clock
from quintant.core.errors import Conflict
from quintant.core.object import ObjectMeta, Request, replace
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook.authority import (
    IssuedCertificate,
    issue_certificate,
    read_certificate,
)
from quintant.runtime.webhook.certificate_rotation import CertificateRotation, next_rotation
from quintant.runtime.webhook.publish import Publish

TYPE = "kubernetes.io/tls"
# The keys of the Secret: what is shown, under the names that programs mount, and the other one.
SERVING = ("tls.crt", "tls.key", "ca.crt")
OTHER = ("other.crt", "other.key", "other-ca.crt")
# So many digits of a certificate's hash tell replicas apart.
_DIGITS = 12


def service_names(name: str, namespace: str) -> tuple[str, ...]:
    """The names of a Service; an API server uses the last."""
    return name, f"{name}.{namespace}", f"{name}.{namespace}.svc"


class SecretCertificates:
    """The certificate for these names, kept in the Secret that `home` names.

    The first certificate is there before it is published, so that a server can listen first.
    """

    def __init__(
        self, home: Request, names: Sequence[str], *, client: Client, clock: Clock, publish: Publish
    ) -> None:
        self._home, self._names = home, names
        self._client, self._clock, self._publish = client, clock, publish
        self._serving: IssuedCertificate | None = None

    async def poll(self) -> KeyPair | None:
        """The certificate to show from now on; None while it is the same."""
        found = await self._find()
        rotation, before = read_rotation(found, self._names), self._serving
        if before is not None:
            rotation = await self._advanced(found, rotation, before)
        elif rotation is None:
            rotation = await self._written(found, CertificateRotation(self._make()))
        self._serving = rotation.serving
        return None if rotation.serving == before else rotation.serving.pair

    async def _advanced(
        self,
        secret: Secret | None,
        rotation: CertificateRotation | None,
        serving: IssuedCertificate,
    ) -> CertificateRotation:
        if rotation is None:
            after = CertificateRotation(serving, self._make())
        else:
            await self._publish(rotation.bundle)
            after = next_rotation(rotation, self._clock.now(), self._make)
        if after is not rotation:
            after = await self._written(secret, after)
            await self._publish(after.bundle)
        return after

    async def _written(
        self, secret: Secret | None, rotation: CertificateRotation
    ) -> CertificateRotation:
        """What is in the Secret then: this rotation, or that of a replica which was faster."""
        try:
            if secret is None:
                await self._create(rotation)
            else:
                await self._client.patch(replace(secret, data=secret_data(rotation)), since=secret)
        except Conflict:
            theirs = read_rotation(await self._find(), self._names)
            if theirs is None:
                raise
            return theirs
        return rotation

    async def _create(self, rotation: CertificateRotation) -> None:
        meta = ObjectMeta(name=self._home.name, namespace=self._home.namespace)
        digest = sha256(rotation.bundle).hexdigest()[:_DIGITS]
        secret = Secret(metadata=meta, type=TYPE, data=secret_data(rotation))
        await self._client.with_field_manager(f"{self._client.manager}-{digest}").apply(
            secret, force=False
        )

    async def _find(self) -> Secret | None:
        return await self._client.find(Secret, self._home.name, self._home.namespace, live=True)

    def _make(self) -> IssuedCertificate:
        return issue_certificate(self._names, self._clock.now())


def secret_data(rotation: CertificateRotation) -> dict[str, str]:
    """A rotation as the data of a Secret."""
    found = dict(zip(SERVING, _parts(rotation.serving), strict=True))
    return (
        found | dict(zip(OTHER, _parts(rotation.other), strict=True)) if rotation.other else found
    )


def read_rotation(secret: Secret | None, names: Sequence[str]) -> CertificateRotation | None:
    """The rotation in a Secret; None if it holds none that can be shown under these names."""
    serving = _issued(secret, SERVING, names)
    return CertificateRotation(serving, _issued(secret, OTHER, names)) if serving else None


def _parts(issued: IssuedCertificate) -> tuple[str, ...]:
    texts = issued.pair.certificate.reveal(), issued.pair.key.reveal(), issued.authority
    return tuple(b64encode(text).decode() for text in texts)


def _issued(
    secret: Secret | None, keys: Sequence[str], names: Sequence[str]
) -> IssuedCertificate | None:
    if secret is None or not set(keys) <= secret.data.keys():
        return None
    try:
        certificate, key, authority = (secret.reveal(name) for name in keys)
        return read_certificate(KeyPair(Sensitive(certificate), Sensitive(key)), authority, names)
    except ValueError:
        return None
