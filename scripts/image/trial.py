"""`make image-test`: the image is built without a registry, looked through, every program run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from foreign.catalogue import CYCLONEDX
from foreign.errors import ProgramError, announce
from image import build
from image.archive import Image, read_image
from image.base import run_with_progress
from image.by_hand import builds_by_hand, copy_source
from image.checks import MEGABYTE, OPENSHIFT, complaints
from image.engine import Engine
from image.local import local_engine, own_base
from image.programs import SERVES, trials
from image.sandbox import Sandbox

TOOLS = ("buildah", "mmdebstrap")
TAG = "localhost/quintant-trial:latest"
USERS = ("65532:65532", ":".join(map(str, OPENSHIFT)))
CHANGED = "src/quintant/version.py"
UNCHANGED_LAYERS = 2
"""Base and dependencies: what a change of the source must not touch."""
_VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
print(error or "valid")
"""


class MissingTool(ProgramError):
    """What a trial needs and this machine has not."""


def try_image(base: str, environ: Mapping[str, str]) -> int:
    """Build it and try it; the exit code."""
    _provide_tools(environ)
    with local_engine(environ, announce) as engine:
        found = list(_wrong(engine, base or own_base(engine, environ, announce), environ))
    for each in found:
        print(f"WRONG: {each}")
    print(f"{len(found)} things are wrong" if found else "the image is as it has to be")
    return 1 if found else 0


def _provide_tools(environ: Mapping[str, str]) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        raise MissingTool(
            "cannot try the image",
            why="it makes a base of packages, and namespaces: that takes Linux and root",
            hint="sudo make image-test, on Debian or in a virtual machine of it",
        )
    missing = [each for each in TOOLS if shutil.which(each) is None]
    if missing and shutil.which("apt-get") is None:
        raise MissingTool(
            "cannot try the image",
            why=f"there is no {' and no '.join(missing)}, and no apt-get to install it with",
            hint=f"install {' and '.join(missing)}",
        )
    if missing:
        _install(missing, environ)


def _install(missing: list[str], environ: Mapping[str, str]) -> None:
    announce(f"installing {' and '.join(missing)}")
    silent = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (("update",), ("install", "-y", "--no-install-recommends", *missing)):
        line = ("apt-get", *words)
        run_with_progress(line, Path("/"), silent, announce, f"install {missing[0]}")


def _wrong(engine: Engine, base: str, environ: Mapping[str, str]) -> Iterator[str]:
    build.build_image(engine, build.plan(base, TAG), environ, announce)
    sbom = engine.read_file(TAG, build.SBOM_IN_IMAGE).decode()
    image = _saved(engine)
    for layer in image.layers:
        print(f"{layer.size / MEGABYTE:8.1f} MB  {layer.digest.removeprefix('sha256:')[:12]}")
    print(f"{image.size / MEGABYTE:8.1f} MB  in all")
    yield from complaints(image, json.loads(sbom))
    yield from _invalid(sbom, environ)
    with _mounted(engine) as root:
        yield from _programs(Sandbox(root, image.config["config"]["Env"]))
    yield from builds_by_hand(engine, base, environ)
    yield from _after_a_change(engine, base, environ, image)


def _saved(engine: Engine) -> Image:
    with tempfile.TemporaryDirectory(prefix="quintant-image.") as folder:
        archive = Path(folder) / "image.tar"
        engine.output("push", "--quiet", TAG, f"docker-archive:{archive}")
        return read_image(archive)


def _invalid(sbom: str, environ: Mapping[str, str]) -> Iterator[str]:
    """What the schema says of it, by those who keep the schema."""
    python = CYCLONEDX.provide(environ)
    line = (str(python), "-c", _VALIDATE)
    done = subprocess.run(line, input=sbom, capture_output=True, text=True, check=False)
    if done.stdout.strip() != "valid":
        yield f"the SBOM is not valid: {done.stdout[:2000]}{done.stderr[-2000:]}"


@contextmanager
def _mounted(engine: Engine) -> Iterator[Path]:
    made = engine.output("from", "--pull-never", TAG).decode().strip()
    try:
        yield Path(engine.output("mount", made).decode().strip())
    finally:
        engine.output("rm", made)


def _programs(sandbox: Sandbox) -> Iterator[str]:
    started, count = time.monotonic(), 0
    for who in USERS:
        for trial in trials():
            output = sandbox.run(who, trial.words, until=SERVES)
            count += 1
            if wrong := trial.complaint(output):
                yield f"as {who}: {wrong}"
    announce(f"ran {count} programs in {time.monotonic() - started:.0f} s")


def _after_a_change(
    engine: Engine, base: str, environ: Mapping[str, str], before: Image
) -> Iterator[str]:
    """A change of the source leaves the layers below it as they are."""
    with tempfile.TemporaryDirectory(prefix="quintant-image.") as folder:
        context = copy_source(Path(folder))
        changed = context / CHANGED
        changed.write_text(f"{changed.read_text()}\n# {time.time_ns()}\n")
        build.build_image(engine, build.plan(base, TAG, context=context), environ, announce)
    after = _saved(engine)
    same = [a.digest == b.digest for a, b in zip(before.layers, after.layers, strict=False)]
    if same[:UNCHANGED_LAYERS] != [True] * UNCHANGED_LAYERS or all(same):
        yield f"after a change of the source these layers are the same: {same}"
