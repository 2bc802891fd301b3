"""Which images run as local processes, as data: image and command on the left, argv on the right.

A pod is run by the kubelet if every container of it is in the table; all other pods are
simulated. Entries of users come first, and the first that fits wins:

    images:
    - {image: "example/web", argv: [/usr/local/bin/web, --port=8080]}
    - {image: "busybox", command: "*"}        # runs the container's own command on this machine
    - {image: "example/tools", command: "sh", path: [/opt/tools/bin]}

It is all of this machine that pods can run: containers, and the commands of probes and hooks. Our
own programs start isolated, and of them only those that are meant for pods.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path, PurePath

from quintant.agents import AGENTS, DEVICES
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
_PYTHON = (sys.executable, "-I", "-u")
"""Isolated: no code is loaded from the working directory, the home, or what variables name."""
IN_PODS = ("agent", "operator")
"""Our commands that pods may run; others run files, or act on a cluster as whoever is asked for."""
_STANDINS = {"lightpeer": "lightpeer", "klight.peer": "klightpeer"}
"""Images that others build, and the agent that stands in for the program of its name in each."""
_DEVICES = {
    "edgehub/deviceshifu-*": ("deviceshifu",),
    "edgehub/telemetryservice": ("telemetryservice",),
    "helloworld-device": ("mockdevice-hello-world",),
    "eclipse-mosquitto": ("broker", "--prefer-mosquitto"),
    **{f"edgehub/mockdevice-{name}": (f"mockdevice-{name}",) for name in DEVICES},
}
"""Images of Shifu's samples: agents, demo devices, and the broker between them."""
_BLOCKS = ("-repo=./blockrepo",)
"""What those images are run with."""


class ImageProgram(Model, forbid_unknown_fields=True):
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
    path: tuple[str, ...] = ()
    """Folders of programs, tried before all others of `PATH`, whoever sets that."""
    allow_env: tuple[str, ...] = ()
    """Globs of variables that a pod may set though loaders read them, such as `LD_*`."""
    subcommands: tuple[str, ...] = ()
    """The words of which one has to follow `argv`; empty allows any."""
    isolated: bool = False
    """Whether it starts nothing that a pod names: `PATH` and login plugins are not a pod's."""
    refused: bool = False
    """Whether it is in the table only to be refused, rather than simulated."""

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

    def allows(self, line: Sequence[str]) -> bool:
        """Whether a command line that was made of this entry may be run."""
        following = line[len(self.argv) : len(self.argv) + 1]
        known = not self.subcommands or any(word in self.subcommands for word in following)
        return known and not self.refused

    def search_path(self, usual: str) -> str:
        """Where a name in `argv` is looked for, on a machine whose own `PATH` is given."""
        return os.pathsep.join((*self.path, self.env.get("PATH") or usual or os.defpath))

    def begins(self, command: Sequence[str]) -> bool:
        """Whether a command is this program: all of `argv`, the first word perhaps without path."""
        first, rest = tuple(command[:1]), tuple(command[1 : len(self.argv)])
        if not self.argv or rest != self.argv[1:]:
            return False
        return first in ((self.argv[0],), (PurePath(self.argv[0]).name,))


class Images:
    """The table: entries of users, then our own."""

    def __init__(self, extra: Iterable[ImageProgram] = ()) -> None:
        self.programs: tuple[ImageProgram, ...] = (*extra, *BUILTIN)

    def find(self, container: Container) -> ImageProgram | None:
        """The program of a container, or None if its image is not one of the table's."""
        return self.locate(container.image, container.command)

    def locate(self, image: str, command: Sequence[str]) -> ImageProgram | None:
        """The program for a command in an image."""
        return next((each for each in self.programs if each.fits(image, command)), None)

    def exec_line(
        self,
        container: Container,
        command: Sequence[str],
        words: Sequence[str],
        rewritten: Callable[[ImageProgram], ImageProgram],
    ) -> tuple[ImageProgram, tuple[str, ...]] | None:
        """The program and command line of a probe or hook; None if the table has none.

        It is found as a container's own would be, or is the image's program with other arguments.
        `words` are those of the command with this machine's paths, and `rewritten` gives an entry
        of the table such.
        """
        own = self.find(container)
        if own is not None and own.begins(command):
            program = rewritten(own)
            return program, (*program.argv, *words[len(own.argv) :])
        found = self.locate(container.image, command)
        if found is None:
            return None
        program = rewritten(found)
        return program, program.line(words, ())

    def runs(self, spec: PodSpec) -> bool:
        """Whether a pod is run as local processes: every image of it is in the table."""
        return all(self.find(each) for each in (*spec.init_containers, *spec.containers))


def load_image_table(path: Path) -> tuple[ImageProgram, ...]:
    """The entries of a file; ConfigError says what is wrong with it."""
    found = read_documents(path, _File, _unusable)
    programs = tuple(program for file in found for program in file.images)
    for program in programs:
        for folder in program.path:
            if not (Path(folder).is_absolute() and Path(folder).is_dir()):
                raise _unusable(path, f"path of image {program.image!r}: {folder} is no folder")
    return programs


class _File(Model, forbid_unknown_fields=True):
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


def our_command(*words: str) -> tuple[str, ...]:
    """The command line of a program of ours, isolated."""
    return (*_PYTHON, "-m", "quintant", *words)


def _ours(image: str, *words: str, command: str = "", args: Sequence[str] = ()) -> ImageProgram:
    """An entry for a program of ours; without words it is the image that has all of them."""
    return ImageProgram(
        image=image,
        command=command,
        argv=our_command(*words),
        args=tuple(args),
        subcommands=() if words else IN_PODS,
        isolated=True,
    )


def _builtin() -> Iterator[ImageProgram]:
    """Our one image under its usual names, and an image per agent for short manifests."""
    for image in (OURS, f"*/{OURS}"):
        yield _ours(image)
    for name in AGENTS:
        yield _ours(f"{OURS}/{name}", "agent", name)
    images = (OURS, f"*/{OURS}", *(f"{OURS}/{name}" for name in AGENTS))
    for image, command in product(images, (OURS, f"*/{OURS}")):
        yield _ours(image, command=command)
    # A script that a volume brings would be run by nobody, and yet be told as running.
    for image in images:
        yield ImageProgram(image=image, command=ANY, refused=True)
    for name, agent in _STANDINS.items():
        for image, command in product((name, f"*/{name}"), ("", agent, f"*/{agent}")):
            yield _ours(image, "agent", agent, command=command, args=_BLOCKS)
    # The original's image of tunnels, whose arguments ours understands.
    for image in ("portal-tunnel", "*/portal-tunnel"):
        yield _ours(image, "agent", "tunnel")
    for image, words in _DEVICES.items():
        yield _ours(image, "agent", *words)
    # The original's sidecars of Cosmos nodes, whose arguments ours understand.
    for image in ("cosmos-operator", "*/cosmos-operator"):
        yield _ours(image, "agent", "cosmosnode", command="/manager")
    # The original's image of the klight controller, and the command of its manifest.
    for image, command in product(
        ("klight.controller", "*/klight.controller"), ("", "./controller")
    ):
        yield _ours(image, "klight", command=command)


BUILTIN = tuple(_builtin())
