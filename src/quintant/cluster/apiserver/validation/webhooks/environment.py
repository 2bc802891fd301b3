"""mustBuildEnvs: the variables of expressions in webhooks and admission policies, with their types.

Objects are what they are, so nothing is known of them before a run; the request and the namespace
have types. The language is loaded with the first expression: nothing of `cel` is imported before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel.types import CelType


@cache
def admission_types(*, params: bool = False, authorizer: bool = True) -> Mapping[str, CelType]:
    """The variables of an expression; some have parameters, some may ask the authorizer."""
    from quintant.cluster.apiserver.cel.authorization import AUTHORIZER
    from quintant.cluster.apiserver.cel.types import ANY

    return {
        "object": ANY,
        "oldObject": ANY,
        "request": _request(),
        "namespaceObject": _namespace(),
        **({"params": ANY} if params else {}),
        **({"authorizer": AUTHORIZER} if authorizer else {}),
    }


def _structure(name: str, words: str, **fields: CelType) -> CelType:
    """A structure with fields that are texts, by their names, and others."""
    from quintant.cluster.apiserver.cel.schemas import escape
    from quintant.cluster.apiserver.cel.types import STRING, CelType

    every = dict.fromkeys(words.split(), STRING) | fields
    escaped = {escape(field): declared for field, declared in every.items()}
    return CelType(f"kubernetes.{name}", fields=escaped)


@cache
def _request() -> CelType:
    from quintant.cluster.apiserver.cel.types import ANY, BOOL, STRING, list_of, map_of

    texts = list_of(STRING)
    kind = _structure("GroupVersionKind", "group version kind")
    resource = _structure("GroupVersionResource", "group version resource")
    user = _structure("UserInfo", "username uid", groups=texts, extra=map_of(STRING, texts))
    return _structure(
        "AdmissionRequest",
        "subResource requestSubResource name namespace operation",
        kind=kind,
        requestKind=kind,
        resource=resource,
        requestResource=resource,
        userInfo=user,
        dryRun=BOOL,
        options=ANY,
    )


@cache
def _namespace() -> CelType:
    from quintant.cluster.apiserver.cel.types import INT, STRING, TIMESTAMP, list_of, map_of

    texts, words = list_of(STRING), map_of(STRING, STRING)
    metadata = _structure(
        "NamespaceMetadata",
        "name generateName namespace UID resourceVersion",
        labels=words,
        annotations=words,
        creationTimestamp=TIMESTAMP,
        deletionTimestamp=TIMESTAMP,
        deletionGracePeriodSeconds=INT,
        generation=INT,
        finalizers=texts,
    )
    condition = _structure(
        "NamespaceCondition", "status type message reason", lastTransitionTime=TIMESTAMP
    )
    return _structure(
        "Namespace",
        "",
        metadata=metadata,
        spec=_structure("NamespaceSpec", "", finalizers=texts),
        status=_structure("NamespaceStatus", "phase", conditions=list_of(condition)),
    )
