"""CertificateSubjectRestriction: no certificate makes its holder an administrator."""

from __future__ import annotations

from quintant.cluster.apiserver.admission.plugins.context import AdmissionContext
from quintant.cluster.apiserver.kinds.draft import Draft
from quintant.cluster.apiserver.meta.status import forbidden
from quintant.cluster.apiserver.meta.user import MASTERS

_CLIENT = "kubernetes.io/kube-apiserver-client"


def check_subject(draft: Draft, context: AdmissionContext) -> None:
    """403 for a new request for a client that would be among the administrators."""
    spec = draft.obj["spec"]
    if draft.live is not None or spec["signerName"] != _CLIENT:
        return
    from quintant.cluster.apiserver.golang.x509_request import organizations, parse_request

    if MASTERS in organizations(parse_request(spec["request"])):
        text = f"use of {_CLIENT} signer with {MASTERS} group is not allowed"
        raise forbidden(draft.target.kind.resource, draft.target.name, text)
