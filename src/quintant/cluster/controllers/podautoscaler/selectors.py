"""validateAndParseSelector: whether the pods of a target can be told, and have one autoscaler.

Pure. What other autoscalers select is what they were last seen to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from quintant.cluster.apiserver.meta.selector_parser import parse_labels
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.controllers.podautoscaler.views import AutoscaledPod
from quintant.core.object import Request

_MISSING = "the HPA target's scale is missing a selector"
_UNREADABLE = "couldn't convert selector into a corresponding internal selector object"


class SelectorProblem(Struct, frozen=True):
    """Why the pods of a target cannot be counted: an event, a condition's reason, and words."""

    event: str
    reason: str
    message: str
    error: str


def parse_problem(selector: str) -> SelectorProblem | None:
    """What is wrong with the selector itself."""
    if not selector:
        return SelectorProblem(
            "SelectorRequired", "InvalidSelector", _MISSING, "selector is required"
        )
    try:
        parse_labels(selector)
    except StatusError as error:
        words = f"{_UNREADABLE}: {error.status['message']}"
        return SelectorProblem("InvalidSelector", "InvalidSelector", words, words)
    return None


def ambiguous_problem(
    selector: str, pods: Iterable[AutoscaledPod], selectors: Mapping[Request, str]
) -> SelectorProblem | None:
    """What is wrong with its pods: several autoscalers would scale them."""
    labels = [pod.metadata.labels for pod in pods]
    parsed = {key: parse_labels(text) for key, text in selectors.items() if text}
    matching = sorted(
        f"{key.namespace}/{key.name}"
        for key, each in parsed.items()
        if any(map(each.matches, labels))
    )
    if len(matching) < 2:
        return None
    words = f"pods by selector {selector} are controlled by multiple HPAs"
    words = f"{words}: [{' '.join(matching)}]"
    return SelectorProblem("AmbiguousSelector", "AmbiguousSelector", words, words)
