"""library.SemverLib: semantic versions."""

from __future__ import annotations

import re
from typing import Any

from quintant.cluster.apiserver.cel.conversions import tells
from quintant.cluster.apiserver.cel.functions import Function
from quintant.cluster.apiserver.cel.types import SEMVER
from quintant.cluster.apiserver.cel.values import CelError, OpaqueValue
from quintant.cluster.apiserver.golang.printing import quoted

_LABEL = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    rf"(?:-({_LABEL}(?:\.{_LABEL})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_CORE = re.compile(r"([0-9.]*)(.*)", re.DOTALL)

Version = tuple[tuple[int, int, int], tuple[str, ...]]
"""Three numbers, and the labels of what comes before a release."""


def version_key(version: Version) -> tuple[Any, ...]:
    """What versions are ordered by: a version with labels comes before the same one without."""
    numbers, labels = version
    ranked = tuple((0, int(label), "") if label.isdigit() else (1, 0, label) for label in labels)
    return (numbers, not labels, ranked)


def _semver(text: str, normalize: bool = False) -> OpaqueValue:
    found = _SEMVER.fullmatch(_normalized(text) if normalize else text)
    if found is None:
        raise CelError(f"Invalid semantic version {quoted(text)}")
    labels = tuple(found[4].split(".")) if found[4] else ()
    return OpaqueValue(SEMVER.name, ((int(found[1]), int(found[2]), int(found[3])), labels))


def _normalized(text: str) -> str:
    """A version with three numbers and without a leading v or leading zeros."""
    found = _CORE.fullmatch(text.removeprefix("v"))
    assert found is not None, "every text has that form"
    numbers = [part.lstrip("0") or "0" for part in found[1].split(".") if part]
    return ".".join([*numbers, "0", "0"][: max(3, len(numbers))]) + found[2]


def _is_semver(text: str, normalize: bool = False) -> bool:
    return tells(lambda each: _semver(each, normalize))(text)


def _number(at: int) -> Function:
    return lambda version: version.value[0][at]


VERSIONS: dict[str, Function] = {
    "semver": _semver,
    "isSemver": _is_semver,
    "major": _number(0),
    "minor": _number(1),
    "patch": _number(2),
}
