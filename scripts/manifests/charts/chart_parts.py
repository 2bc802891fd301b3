"""The objects of an operator with expressions of Helm where a release decides.

They are made for namespaces whose names stand for what is not known yet, and are legal.
"""

from __future__ import annotations

from typing import Any

from manifests.charts.templates import EACH, NAMESPACE
from manifests.kustomize import Parts
from manifests.operator_parts import operator_parts

_RELEASE, _EACH = "namespace-of-the-release", "each-of-the-namespaces"


def chart_parts(name: str, image: str, *, namespaced: bool = False) -> Parts:
    """The objects of a release; `namespaced` are those of the items of a value."""
    found = operator_parts(
        name, home=_RELEASE, image=image, namespaces=(_EACH,) if namespaced else ()
    )
    return {part: _expressed(objects) for part, objects in found.items()}


def _expressed(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _expressed(inner) for key, inner in found.items()}
    if isinstance(found, list):
        return [_expressed(inner) for inner in found]
    if isinstance(found, str):
        return found.replace(_RELEASE, NAMESPACE).replace(_EACH, EACH)
    return found
