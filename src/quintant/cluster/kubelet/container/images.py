"""Which images run as local processes, as data: image and command on the left, argv on the right.

A pod is run by the kubelet if every container of it is in the table; all other pods are
simulated. Entries of users come first, and the first that fits wins:

    images:
    - {image: "example/web", argv: [/usr/local/bin/web, --port=8080]}
    - {image: "busybox", command: "*"}        # runs the container's own command on this machine
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from quintant.agents import AGENTS
from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.cluster.host.yaml_file import read_documents
from quintant.core.errors import ConfigError
from quintant.core.object import Model

ANY = "*"
OURS = "quintant"
"""The name of our image, and of the command in it."""
_PREFIXES = ("docker.io/library/", "docker.io/")
"""What may stand before the name of an image without changing which image it is."""
_UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
_STANDINS = {"lightpeer": "lightpeer", "klight.peer": "klightpeer"}
"""Images that others build, and the agent that stands in for the program of its name in each."""
_BLOCKS = ("-repo=./blockrepo",)
"""What those images are run with."""


class ImageProgram(Model):
    """What stands in for an image: the local program that is started for a container."""

    image: str
    """A glob. It is tried on the name as written, without a default registry, and without tag."""
    command: str = ""
    """A glob for the first word of the container's command; empty fits containers without one."""
    argv: tuple[str, ...] = ()
    """Stands for the image's entry point, or for the first word of the command; empty keeps it."""
    args: tuple[str, ...] = ()
    """What follows when the container names neither command nor arguments."""
    env: Mapping[str, str] = {}
    """What the image sets; the container's own variables win."""

    def fits(self, image: str, command: Sequence[str]) -> bool:
        """Whether this is the program for a container of that image and command."""
        if bool(command) is not bool(self.command):
            return False
        if command and not fnmatchcase(command[0], self.command):
            return False
        return any(fnmatchcase(name, self.image) for name in _names(image))

    def line(self, command: Sequence[str], args: Sequence[str]) -> tuple[str, ...]:
        """The whole command line for a container's command and arguments."""
        if command:
            return (*(self.argv or command[:1]), *command[1:], *args)
        return (*self.argv, *(args or self.args))


class Images:
    """The table: entries of users, then our own."""

    def __init__(self, extra: Iterable[ImageProgram] = ()) -> None:
        self.programs = (*extra, *BUILTIN)

    def find(self, container: Container) -> ImageProgram | None:
        """The program of a container, or None if its image is not one of the table's."""
        return self.locate(container.image, container.command)

    def locate(self, image: str, command: Sequence[str]) -> ImageProgram | None:
        """The program for a command in an image."""
        return next((each for each in self.programs if each.fits(image, command)), None)

    def runs(self, spec: PodSpec) -> bool:
        """Whether a pod is run as local processes: every image of it is in the table."""
        return all(self.find(each) for each in (*spec.init_containers, *spec.containers))


def load_image_table(path: Path) -> tuple[ImageProgram, ...]:
    """The entries of a file; ConfigError says what is wrong with it."""
    found = read_documents(path, _File, _unusable)
    return tuple(program for file in found for program in file.images)


class _File(Model):
    images: tuple[ImageProgram, ...]


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot read the image table {path}",
        because=why,
        hint='images: [{image: "example/web", argv: [/usr/local/bin/web]}]',
    )


def _names(image: str) -> Iterator[str]:
    """The ways to write the name of an image that an entry may mean."""
    name, _, _ = image.partition("@")
    bare = name[: name.rfind(":")] if ":" in name.rpartition("/")[2] else name
    for written in (image, name, bare):
        yield written
        for prefix in _PREFIXES:
            if written.startswith(prefix):
                yield written.removeprefix(prefix)


def _ours(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "quintant", *words)


def _agents() -> Iterator[ImageProgram]:
    """Our one image under its usual names, and an image per agent for short manifests."""
    for image in (OURS, f"*/{OURS}"):
        yield ImageProgram(image=image, argv=_ours(), env=_UNBUFFERED)
    for name in AGENTS:
        yield ImageProgram(image=f"{OURS}/{name}", argv=_ours("agent", name), env=_UNBUFFERED)
    images = (OURS, f"*/{OURS}", *(f"{OURS}/{name}" for name in AGENTS))
    for image, command in product(images, (OURS, f"*/{OURS}")):
        yield ImageProgram(image=image, command=command, argv=_ours(), env=_UNBUFFERED)
    # It has a Python with Quintant, for scripts that a volume brings.
    for image, command in product((OURS, f"*/{OURS}"), ("python", "python3")):
        yield ImageProgram(image=image, command=command, argv=(sys.executable,), env=_UNBUFFERED)
    for name, agent in _STANDINS.items():
        for image, command in product((name, f"*/{name}"), ("", agent, f"*/{agent}")):
            argv = _ours("agent", agent)
            yield ImageProgram(
                image=image, command=command, argv=argv, args=_BLOCKS, env=_UNBUFFERED
            )
    # The original's image of tunnels, whose arguments ours understands.
    for image in ("portal-tunnel", "*/portal-tunnel"):
        yield ImageProgram(image=image, argv=_ours("agent", "tunnel"), env=_UNBUFFERED)
    # The original's image of the klight controller, and the command of its manifest.
    for image, command in product(
        ("klight.controller", "*/klight.controller"), ("", "./controller")
    ):
        yield ImageProgram(image=image, command=command, argv=_ours("klight"), env=_UNBUFFERED)


BUILTIN = tuple(_agents())
