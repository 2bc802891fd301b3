"""CertificateApproval, CertificateSigning: who may approve and sign for which signer.

Admission plugins that ask the authorizer: the right to write the subresource alone is not enough,
the user needs the verb on `signers` as well, by the name of one or of all of its domain.
"""

from __future__ import annotations

from collections.abc import Container

from quintant.cluster.apiserver.admission.plugin_names import (
    CERTIFICATE_APPROVAL,
    CERTIFICATE_SIGNING,
)
from quintant.cluster.apiserver.authorization.rbac import Authorizer
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import forbidden
from quintant.cluster.apiserver.meta.user import User

GROUP = "certificates.k8s.io"
_TABLE = f"certificatesigningrequests.{GROUP}"


def check_signer(
    draft: Draft, user: User, authorizer: Authorizer, disabled: Container[str]
) -> None:
    """403 for an approval or a certificate of a signer that is not the user's to decide for."""
    target, live = draft.target, draft.live
    if target.kind.table != _TABLE or live is None:
        return
    verb = ""
    if target.subresource == "approval" and CERTIFICATE_APPROVAL not in disabled:
        verb = "approve"
    elif target.subresource == "status" and CERTIFICATE_SIGNING not in disabled:
        changed = (draft.obj.get("status") or {}) != (live.get("status") or {})
        verb = "sign" if changed else ""
    signer = live["spec"]["signerName"]
    if verb and not _allowed(user, verb, signer, authorizer):
        text = f'user not permitted to {verb} requests with signerName "{signer}"'
        raise forbidden(target.kind.resource, target.name, text)


def _allowed(user: User, verb: str, signer: str, authorizer: Authorizer) -> bool:
    domain = signer.partition("/")[0]
    return any(
        authorizer.decide(user, RequestInfo(verb, "", GROUP, "*", "signers", "", name)).allowed
        for name in (signer, f"{domain}/*")
    )
