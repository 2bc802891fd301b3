"""The builds that pages type by hand, run as they stand there, with buildah in podman's place.

They name a base without a registry and ask for settings of pip beside the source; everything else
is in the layers of the build before.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from foreign.errors import announce
from image import build
from image.engine import Engine

PAGES = ("deploy/Containerfile", "docs/image.md", "docs/klight.md")
COPIED = ("src", "examples", "scripts", "deploy", "pyproject.toml", "README.md", "LICENSE",
          ".dockerignore")  # fmt: skip
_NAMES = ("podman", "docker")
_PROGRAM = """\
#!/bin/sh
[ "$1" = build ] || exit 1
shift
exec {engine} build --layers --force-rm --network=host --isolation=chroot "$@"
"""
"""What both names are here."""


def copy_source(folder: Path) -> Path:
    """Copy what a build is given."""
    for name in COPIED:
        source = build.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
    return folder


def typed_builds() -> list[str]:
    """Every command of the pages that builds the image."""
    texts = [(build.ROOT / page).read_text().replace("#   ", "") for page in PAGES]
    pattern = rf"^(?:{'|'.join(_NAMES)}) build (?:.*\\\n)*.*"
    return [found for text in texts for found in re.findall(pattern, text, re.MULTILINE)]


def builds_by_hand(engine: Engine, base: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Run each of them; what is wrong with those that fail."""
    known = f"docker.io/library/{build.DEFAULT_BASE}"
    engine.output("tag", base, known)
    with tempfile.TemporaryDirectory(prefix="quintant-image.") as made:
        source, programs = copy_source(Path(made)), Path(made) / "bin"
        programs.mkdir()
        for name in _NAMES:
            (programs / name).write_text(_PROGRAM.format(engine=" ".join(engine.command)))
            (programs / name).chmod(0o755)
        with build.lent_secrets(environ) as secrets:
            shutil.copy(secrets["pip_conf"], source)
        own = {**environ, "PATH": f"{programs}:{environ.get('PATH', os.defpath)}"}
        for command in (commands := typed_builds()):
            done = subprocess.run(
                ["sh", "-ec", command], cwd=source, env=own, pass_fds=engine.inherited, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
            if done.returncode != 0:
                yield f"as a page says: {command}\n{done.stdout[-2000:]}"
        announce(f"ran {len(commands)} builds as pages say")
    engine.output("rmi", known, *sorted(set(map(_tag, commands))))


def _tag(command: str) -> str:
    found = re.search(r" -t (\S+)", command)
    assert found is not None
    return found[1]
