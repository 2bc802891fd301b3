"""validateMatchCondition: match conditions of webhooks, compiled with their variables.

The language is loaded with the first condition: nothing of `cel` is imported before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quintant.cluster.apiserver.cel import CompiledRule
    from quintant.cluster.apiserver.cel.types import CelType


@cache
def compile_match_condition(expression: str) -> CompiledRule:
    """The program of an expression; cel.Uncompilable if it makes no sense."""
    from quintant.cluster.apiserver.cel import compile_rule

    return compile_rule(expression, request_types())


@cache
def request_types() -> Mapping[str, CelType]:
    from quintant.cluster.apiserver.cel.authorization import AUTHORIZER
    from quintant.cluster.apiserver.cel.schemas import escape
    from quintant.cluster.apiserver.cel.types import ANY, BOOL, STRING, CelType, list_of, map_of

    def structure(name: str, words: str, **fields: CelType) -> CelType:
        """A structure with fields that are texts, by their names, and others."""
        every = dict.fromkeys(words.split(), STRING) | fields
        escaped = {escape(field): declared for field, declared in every.items()}
        return CelType(f"kubernetes.{name}", fields=escaped)

    texts = list_of(STRING)
    kind = structure("GroupVersionKind", "group version kind")
    resource = structure("GroupVersionResource", "group version resource")
    user = structure("UserInfo", "username uid", groups=texts, extra=map_of(STRING, texts))
    request = structure(
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
    return {"object": ANY, "oldObject": ANY, "request": request, "authorizer": AUTHORIZER}
