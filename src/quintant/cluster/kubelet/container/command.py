"""From a container to a command line: what is run, where, and with which environment.

Pure but for the folders it names. Variables of the container win over those of its image, and these
over what every program needs; paths and addresses are made those of this machine.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from quintant.api.container import Container, Exec
from quintant.client.config.config import MOUNT_VARIABLE, SERVICE_ACCOUNT
from quintant.cluster.kubelet.container.downward_api import Self
from quintant.cluster.kubelet.container.env import Sources, environment
from quintant.cluster.kubelet.container.expand_vars import expand, expand_all
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process.orphans import AGENT, CONTAINER
from quintant.cluster.kubelet.process.protocols import Launch, Missing
from quintant.cluster.kubelet.volume.rootfs import ADDRESS, ROOT, Rewriter, below

TERMINATION = "/dev/termination-log"
"""Where a container may leave its last words, unless it says otherwise."""
_FOLDERS = {"HOME": "/root", "TMPDIR": "/tmp"}
"""Folders that every program has, inside its root."""


@dataclass(frozen=True, slots=True)
class ContainerRuntimeConfig:
    """A container's place on this machine: its folders, and how it is called."""

    container: Container
    root: Path
    id: str
    rewriter: Rewriter
    variables: Mapping[str, str] = field(repr=False)
    """As the container's own spec has them, before any rewriting."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What tells its program how the names of services are found."""

    @property
    def last_words(self) -> Path:
        """The file whose text is told when the container has ended."""
        return below(self.root, self.container.termination_message_path or TERMINATION)

    def place(self, path: str) -> str:
        """A path with references to variables, as subPathExpr has."""
        return expand(path, self.variables)


def runtime_config(
    ground: NodeContext, container: Container, root: Path, about: Self, sources: Sources
) -> ContainerRuntimeConfig:
    """The place of a container; Unconfigured if something its variables need is missing."""
    variables = environment(container, about, sources)
    mounts = [each.mount_path for each in container.volume_mounts]
    rewriter = Rewriter.of(root, mounts, about.address)
    id = "".join(ground.random.id().replace("-", "") for _ in range(2))
    names = ground.names(about.pod.metadata.namespace)
    return ContainerRuntimeConfig(container, root, id, rewriter, variables, names)


def launch(ground: NodeContext, place: ContainerRuntimeConfig, hostname: str) -> Launch:
    """How a container is started; Missing if its program is not on this machine."""
    container = place.container
    program = ground.images.find(container)
    if program is None:
        raise Missing(f'image "{container.image}" is not in the image table')
    command = place.rewriter.words(expand_all(container.command, place.variables))
    args = place.rewriter.words(expand_all(container.args, place.variables))
    line = program.line(command, args)
    env = _environment(ground, place, program.env, hostname)
    cwd = below(place.root, container.working_dir)
    return Launch((_found(line, env, container.image), *line[1:]), cwd, env)


def command(
    ground: NodeContext, place: ContainerRuntimeConfig, asked: Exec, hostname: str
) -> Launch:
    """How a command is run beside a container, for probes and hooks."""
    image = place.container.image
    program = ground.images.locate(image, asked.command)
    words = place.rewriter.words(asked.command)
    line = program.line(words, ()) if program else words
    env = _environment(ground, place, program.env if program else {}, hostname)
    # A mark of its own: what is swept at its end is not the container.
    env[CONTAINER] = f"{place.id}-{ground.random.id()}"
    return Launch((_found(line, env, image), *line[1:]), place.root, env)


def _environment(
    ground: NodeContext, place: ContainerRuntimeConfig, image: Mapping[str, str], hostname: str
) -> dict[str, str]:
    own = place.rewriter.values({**_FOLDERS, **place.variables})
    for name in _FOLDERS:
        if not Path(own[name]).is_relative_to(place.root):
            own[name] = str(below(place.root, own[name]))
    account = [each for each in place.rewriter.mounts if each == str(SERVICE_ACCOUNT)]
    return {
        **ground.inherited,
        **place.names,
        "HOSTNAME": hostname,
        **image,
        **own,
        **({MOUNT_VARIABLE: str(below(place.root, account[0]))} if account else {}),
        ROOT: str(place.root),
        ADDRESS: place.rewriter.address,
        AGENT: ground.mark,
        CONTAINER: place.id,
    }


def _found(line: tuple[str, ...], env: Mapping[str, str], image: str) -> str:
    if not line:
        raise Missing(f'image "{image}" has no command in the image table')
    path = shutil.which(line[0], path=env.get("PATH"))
    if path is None:
        raise Missing(f'program "{line[0]}" of image "{image}" is not on this machine')
    return path
