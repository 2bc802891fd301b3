"""The archive of images that nodes load: Quintant's own, built without a registry.

It is known by a digest of what it is built from: a tree that did not change is not built again.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from foreign.cache import cache_folder, locked
from foreign.errors import Report, announce
from image.base import run_with_progress
from image.build import ROOT, build_image, plan
from image.local import local_engine, own_base
from realcluster.images.archive import write_archive
from realcluster.images.oci import ImageLayout

SOURCES = (
    "LICENSE", "README.md", "constraints.txt", "deploy/Containerfile", "deploy/requirements.txt",
    "deploy/build-requirements.txt", "pyproject.toml", "src", "examples", "scripts/image",
    *(f"scripts/realcluster/images/{name}.py" for name in ("archive", "oci", "extra_layer")),
)  # fmt: skip
TAG = "localhost/quintant-real:latest"
_DIGITS = 12


def provide_archive(environ: Mapping[str, str], *, report: Report = announce) -> Path:
    """Return the archive of this source tree's images; built first where it is missing."""
    folder = cache_folder(environ) / "real-cluster-images"
    target = folder / f"images-{fingerprint(ROOT, SOURCES)}.tar"
    with locked(folder, report):
        if not target.exists():
            layout = _layout(folder / "layout", environ, report)
            for old in folder.glob("images-*.tar"):
                old.unlink()
            write_archive(layout, target)
    return target


def _layout(folder: Path, environ: Mapping[str, str], report: Report) -> ImageLayout:
    """The image as files."""
    shutil.rmtree(folder, ignore_errors=True)
    with local_engine(environ, report) as engine:
        build_image(engine, plan(own_base(engine, environ, report), TAG), environ, report)
        # Layers that are not compressed are loaded in half the time.
        push = (*engine.command, "push", "--disable-compression", TAG, f"oci:{folder}:quintant")
        run_with_progress(push, ROOT, environ, report, "write the image")
    return ImageLayout(folder)


def fingerprint(root: Path, sources: Sequence[str]) -> str:
    """A few letters that differ where the content of these files and folders does."""
    digest = hashlib.sha256()
    for path in sorted(_files(root, sources)):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def _files(root: Path, sources: Iterable[str]) -> Iterable[Path]:
    for name in sources:
        if (root / name).is_file():
            yield root / name
        for folder, folders, files in os.walk(root / name):
            folders[:] = [each for each in folders if each != "__pycache__"]
            yield from (Path(folder, each) for each in files)
