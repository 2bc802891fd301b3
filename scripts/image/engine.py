"""The engine that builds: docker, podman or buildah, whichever works on this machine.

They take the same Containerfile and nearly the same options. What differs is here: buildah needs no
daemon and no runtime (its steps run in a chroot, which also works inside of a container), and an
image's file is read in another way.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from foreign.errors import ProgramError

NAMES = ("docker", "podman", "buildah")
_COPY = "copy"
_OWN = "quintant-image"
"""What the names of our containers begin with; host and process follow."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Build:
    """What is to be built."""

    containerfile: Path
    context: Path
    tag: str
    target: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Engine:
    """A program that builds images."""

    name: str
    command: Sequence[str]
    inherited: Sequence[int] = ()
    """Descriptors that its programs keep open: a lock is free once the last of them has ended."""

    def build_line(self, build: Build, environ: Mapping[str, str]) -> list[str]:
        """The command line of a build."""
        return [
            *(*self.command, "build", *self._own_options(environ)),
            *("--file", str(build.containerfile), "--tag", build.tag),
            *(("--target", build.target) if build.target else ()),
            *(
                w
                for key, value in build.arguments.items()
                for w in ("--build-arg", f"{key}={value}")
            ),
            *(w for id, at in build.secrets.items() for w in ("--secret", f"id={id},src={at}")),
            str(build.context),
        ]

    def _own_options(self, environ: Mapping[str, str]) -> Sequence[str]:
        if self.name == "docker":
            # The others hand on the proxies of whoever calls them.
            return [word for name in _PROXIES if name in environ for word in ("--build-arg", name)]
        alone = self.name == "buildah" and "BUILDAH_ISOLATION" not in environ
        isolation = ["--isolation=chroot"] if alone else []
        # Without --force-rm, buildah leaves what a failed build had mounted.
        return ["--layers", "--force-rm", "--network=host", *isolation]

    def run_build(self, build: Build, environ: Mapping[str, str]) -> int:
        """Build it; the engine's exit code. Interrupted, it is given the time to clean up."""
        buildkit = {**environ, "DOCKER_BUILDKIT": "1"}
        line = self.build_line(build, environ)
        with subprocess.Popen(
            line, cwd=build.context, env=buildkit, pass_fds=self.inherited
        ) as process:
            try:
                return process.wait()
            except BaseException:
                process.terminate()
                process.wait()
                raise

    def read_file(self, tag: str, path: str) -> bytes:
        """A file of an image."""
        buildah = self.name == "buildah"
        words = ("from", "--pull-never") if buildah else ("create",)
        self._remove_abandoned()
        made = f"{_own_prefix()}{os.getpid()}"
        self.output(*words, "--name", made, tag)
        try:
            return self._copied(made, path) if buildah else self._archived(made, path)
        finally:
            self.output("rm", made)

    def containers(self) -> list[str]:
        """The names of all containers of its store."""
        words = {"buildah": ("containers", "--format", "{{.ContainerName}}")}
        listed = words.get(self.name, ("ps", "--all", "--format", "{{.Names}}"))
        return self.output(*listed).decode().split()

    def _remove_abandoned(self) -> None:
        """Remove containers of processes of ours that were killed, and nobody else's."""
        for name in self.containers():
            pid = name.removeprefix(_own_prefix())
            if pid != name and pid.isdecimal() and not _runs(int(pid)):
                self.output("rm", name)

    def _copied(self, made: str, path: str) -> bytes:
        """By way of a folder: on a busy machine buildah loses what a program of it prints."""
        with tempfile.TemporaryDirectory(prefix="quintant-image.") as folder:
            options = ("--isolation=chroot", "--user=0", f"--volume={folder}:/mnt")
            self.output("run", *options, made, "--", "cp", path, f"/mnt/{_COPY}")
            return (Path(folder) / _COPY).read_bytes()

    def _archived(self, made: str, path: str) -> bytes:
        return _only_file(self.output("cp", f"{made}:{path}", "-"))

    def output(self, *words: str) -> bytes:
        """What one of its commands outputs."""
        line = [*self.command, *words]
        done = subprocess.run(line, check=True, stdout=subprocess.PIPE, pass_fds=self.inherited)
        return done.stdout


def find_engine(given: str, environ: Mapping[str, str], works: Callable[[str], bool]) -> Engine:
    """The engine that is named, or the first one that works."""
    names = (given,) if given else NAMES
    found = [each for each in names if shutil.which(each, path=environ.get("PATH", os.defpath))]
    for each in found:
        if works(each):
            return Engine(_kind(each), (each,))
    installed = f"{' and '.join(found)} cannot work here: see `{found[0]} info`" if found else ""
    raise ProgramError(
        "cannot build the image",
        why=installed or f"there is no {' and no '.join(names)} on this machine",
        hint="apt-get install buildah, or podman; or make image ENGINE=/path/to/one",
    )


def _own_prefix() -> str:
    host = re.sub(r"[^a-zA-Z0-9]", "-", socket.gethostname())
    return f"{_OWN}-{host}-"


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return True


def _kind(command: str) -> str:
    name = Path(command).name
    return next((each for each in NAMES if each in name), "docker")


def engine_works(command: str) -> bool:
    """Whether it answers: docker's program says nothing without its daemon."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run([command, "info"], check=False, **quiet).returncode == 0  # type: ignore[call-overload, no-any-return]


def _only_file(archive: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        file = tar.extractfile(tar.getmembers()[0])
        assert file is not None
        return file.read()
