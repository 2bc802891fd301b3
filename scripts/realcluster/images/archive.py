"""The images of a real cluster, in one archive: Quintant's, and what stands for others'.

Samples name images of simulators, as the embedded cluster's image table knows them
(`quintant.cluster.kubelet.container.images`). Here each such name is Quintant's own image with the
program of that table; so is what holds a pod's namespaces.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from quintant.cluster.kubelet.container.images import OURS, Images
from quintant.operators.shifu.sample.floor import SIMULATORS, TAG
from quintant.version import QUINTANT
from realcluster.images.extra_layer import extra_layer
from realcluster.images.oci import ImageLayout, Plain
from realcluster.nodes.files import SANDBOX

NEXT = f"{QUINTANT}-next"
"""The tag of an image that is another than the first, to upgrade to."""
WITH_CLUSTER = f"{OURS}:{QUINTANT}-cluster"
"""The image with what `quintant up` needs."""
_DEFAULT = "docker.io/"
_LIBRARY = f"{_DEFAULT}library/"


def write_archive(layout: ImageLayout, target: Path) -> None:
    """Write the archive that every node loads."""
    layout.archive(dict(_images(layout)), target)


def _images(layout: ImageLayout) -> Iterator[tuple[str, Plain]]:
    own = (OURS,)
    yield full_name(f"{OURS}:{QUINTANT}"), layout.first()
    yield full_name(f"{OURS}:{NEXT}"), layout.add(own, {"version": NEXT})
    yield full_name(WITH_CLUSTER), layout.add_layer(extra_layer("cluster"))
    yield SANDBOX, layout.add(("sleep", "infinity"), {})
    for name, words in stand_ins(each.image for each in SIMULATORS.values()).items():
        # On its own a broker is for its machine alone; here that is a pod.
        given = ("--listen=0.0.0.0",) if "broker" in words else ()
        yield full_name(f"{name}:{TAG}"), layout.add((*words, *given), {})


def stand_ins(images: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The program of each image that the image table has."""
    table = Images()
    found = {name: table.locate(name, ()) for name in images}
    return {
        name: program.argv[program.argv.index(OURS) :]
        for name, program in found.items()
        if program is not None
    }


def full_name(image: str) -> str:
    """What a container runtime calls an image whose name says no registry."""
    return f"{_DEFAULT if '/' in image else _LIBRARY}{image}"
