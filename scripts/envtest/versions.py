"""The Kubernetes releases that tests run against: the one that we speak, and the three before it.

`QUINTANT_KUBERNETES` chooses one of them, as `1.33`, or any other release, as `v1.33.13`. Without
it, it is the one that everything else agrees on.
"""

import re
from collections.abc import Mapping

from foreign.errors import ProgramError
from quintant.version import KUBERNETES

VARIABLE = "QUINTANT_KUBERNETES"

SUPPORTED: Mapping[str, str] = {
    "1.33": "v1.33.13",
    "1.34": "v1.34.4",
    "1.35": "v1.35.8",
    "1.36": KUBERNETES,
}
"""Minor versions, oldest first, and the patch of each that is built."""

_RELEASE = re.compile(r"v1\.\d+\.\d+")


def chosen(environ: Mapping[str, str]) -> str:
    """Return the release that the environment asks for, such as v1.36.3."""
    wanted = environ.get(VARIABLE)
    return release(wanted) if wanted else KUBERNETES


def release(version: str) -> str:
    """Return the release of a supported minor version; a whole release is returned as it is."""
    if version in SUPPORTED:
        return SUPPORTED[version]
    if _RELEASE.fullmatch(version):
        return version
    raise ProgramError(
        f"cannot use Kubernetes {version!r}",
        why="it is neither a supported minor version nor a whole release",
        hint=f"one of {', '.join(SUPPORTED)}; or a release, such as {KUBERNETES}",
    )
