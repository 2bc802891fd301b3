"""csrsigning, csrcleaner: approved CertificateSigningRequests get a certificate, old ones go.

The three signers of Kubernetes itself are served with the cluster's own authority; requests for
others are somebody else's. Nothing is approved here: that is for people, or for a controller of
theirs.
"""

from __future__ import annotations

from collections.abc import Callable

from quintant.api.kubernetes.certificates_v1 import CertificateSigningRequest
from quintant.cluster.controllers.certificates.cleaner import Cleaner
from quintant.cluster.controllers.certificates.signer import SIGNERS, RequestSigner
from quintant.core.object import Object
from quintant.core.resource import resource
from quintant.keys.authority import Authority
from quintant.runtime.manager.manager import Manager


@resource(group="certificates.k8s.io", version="v1", plural="signers", namespaced=False)
class CertificateSigner(Object):
    """Whom a request is for: roles name signers, objects there are none."""


def declare(manager: Manager) -> None:
    """Add the controller that removes old requests."""
    (
        manager.keyed("csrcleaner-controller")
        .watches(CertificateSigningRequest, to=lambda csr: [csr.key])
        .uses(CertificateSigningRequest, "delete")
        .reconcile(Cleaner())
    )


def signing(authority: Authority) -> Callable[[Manager], None]:
    """The declaration of the controller that signs with an authority."""

    def declare(manager: Manager) -> None:
        (
            manager.keyed("csrsigning-controller")
            .watches(CertificateSigningRequest, to=lambda csr: [csr.key])
            .uses(CertificateSigningRequest, "patch", sub="status")
            .uses(CertificateSigner, "sign", names=tuple(SIGNERS))
            .reconcile(RequestSigner(authority))
        )

    return declare
