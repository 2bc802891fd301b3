"""Where objects are found in the console, and what of foreign texts is shown."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from quintant.core.object import ObjectMeta
from quintant.core.resource import Resource

CORE, NO_NAMESPACE = "core", "-"
SIMULATED_NODE = "simulated.quintant.dev/node"
"""The label ("true") of nodes that no machine stands behind."""
SIMULATED_POD = "simulated.quintant.dev/pod"
"""The annotation ("true") of pods that no process stands behind."""
TEXT_LENGTH = 2000
"""Characters of a message in a row; the object's own page has all of it."""
CELL_LENGTH = 200
MORE = "… (more)"


def object_link(resource: Resource, name: str, namespace: str = "") -> str:
    """The address of an object's page."""
    parts = (
        resource.group or CORE,
        resource.version,
        resource.plural,
        namespace or NO_NAMESPACE,
        name,
    )
    return "/objects/" + "/".join(quote(each, safe="") for each in parts)


def object_topic(resource: Resource, name: str, namespace: str = "") -> str:
    """The name of an object's topic."""
    return object_link(resource, name, namespace).removeprefix("/").replace("objects", "object", 1)


def docs_link(system: str) -> str:
    """The address of what an operator says of itself."""
    return f"/docs/{quote(system, safe='')}"


def safe_url(url: str) -> str | None:
    """A URL that may be a link: http or https, and nothing else."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def cut(text: str, length: int = TEXT_LENGTH) -> str:
    """A text that is not endless."""
    return text if len(text) <= length else text[:length] + MORE


def is_simulated(meta: ObjectMeta) -> bool:
    """Whether neither machine nor process stands behind an object."""
    return _true(meta.labels, SIMULATED_NODE) or _true(meta.annotations, SIMULATED_POD)


def _true(marks: Mapping[str, str], name: str) -> bool:
    return marks.get(name) == "true"
