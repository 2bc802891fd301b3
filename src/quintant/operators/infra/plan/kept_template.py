"""Where the template that was last applied is kept: in the status, or in a Secret. Pure.

A template that is too large for a status goes into a Secret of its own, and the status names that.
"""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.api.names import SecretKeyRef
from quintant.operators.infra.builders import TEMPLATE_KEY, kept_template
from quintant.operators.infra.plan.status import StatusChange

_TEMPLATE, _REF = "last_applied_tosca", "last_applied_ref"


def template_secret(cluster: Cluster, change: StatusChange) -> Secret | None:
    """The Secret for the template in a change; None if there is none, or the status holds it."""
    tosca = change.fields.get(_TEMPLATE)
    return kept_template(cluster, tosca) if tosca is not None else None


def with_template_ref(change: StatusChange, secret: Secret | None, *, saved: bool) -> StatusChange:
    """The same change, with the place of its template.

    A Secret whose name is taken by another object could not be `saved`: the template is not kept,
    and the next update sends all of it.
    """
    if _TEMPLATE not in change.fields:
        return change
    if secret is None:
        return change + StatusChange({_REF: None})
    ref = SecretKeyRef(name=secret.metadata.name, key=TEMPLATE_KEY) if saved else None
    return change + StatusChange({_TEMPLATE: None, _REF: ref})
