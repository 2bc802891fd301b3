"""A layer with what an extra of Quintant needs, taken from the environment that this process is in.

Quintant's image has no `cluster` extra: 60 MB that operators do not need. The simulator of
Infrastructure Manager makes clusters, so its image here has one layer more.
"""

import io
import tarfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

SITE_PACKAGES = "opt/quintant/lib/python3.11/site-packages"
"""Where the image has its packages."""
_PRODUCT = "quintant"


def extra_layer(extra: str) -> bytes:
    """The layer, as an archive that has the same bytes for the same packages."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for path, source in sorted(_files(extra)):
            entry = tarfile.TarInfo(f"{SITE_PACKAGES}/{path}")
            entry.size, entry.mode = source.stat().st_size, 0o644
            with source.open("rb") as file:
                tar.addfile(entry, file)
    return content.getvalue()


def needed(extra: str) -> dict[str, Distribution]:
    """Every distribution that the extra brings, and what those need in turn."""
    waiting = [
        each.name
        for each in map(Requirement, requires(_PRODUCT) or ())
        if each.marker is not None and each.marker.evaluate({"extra": extra})
        and not each.marker.evaluate({"extra": ""})
    ]  # fmt: skip
    found: dict[str, Distribution] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = distribution(name)
            waiting += _requirements(found[name])
    return found


def _requirements(of: Distribution) -> Iterator[str]:
    for each in map(Requirement, of.requires or ()):
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            yield each.name


def _files(extra: str) -> Iterator[tuple[str, Path]]:
    for each in needed(extra).values():
        for path in each.files or ():
            source = Path(str(each.locate_file(path)))
            if ".." not in path.parts and "__pycache__" not in path.parts and source.is_file():
                yield path.as_posix(), source
