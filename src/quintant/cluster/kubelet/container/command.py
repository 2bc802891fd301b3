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
from quintant.cluster.kubelet.container.downward_api import DownwardSource
from quintant.cluster.kubelet.container.env import EnvSources, make_environment
from quintant.cluster.kubelet.container.expand_vars import expand, expand_all
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process.orphans import AGENT, CONTAINER
from quintant.cluster.kubelet.process.protocols import Launch, ProgramNotFound
from quintant.cluster.kubelet.volume.rootfs import ADDRESS, ROOT, PathRewriter, path_in_root

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
    rewriter: PathRewriter
    variables: Mapping[str, str] = field(repr=False)
    """As the container's own spec has them, before any rewriting."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What tells its program how the names of services are found."""

    @property
    def termination_message_path(self) -> Path:
        """The file whose text is told when the container has ended."""
        return path_in_root(self.root, self.container.termination_message_path or TERMINATION)

    def expand(self, path: str) -> str:
        """A path with references to variables, as subPathExpr has."""
        return expand(path, self.variables)


def runtime_config(
    node: NodeContext,
    container: Container,
    root: Path,
    about: DownwardSource,
    sources: EnvSources,
) -> ContainerRuntimeConfig:
    """The place of a container; ContainerConfigError if something its variables need is missing."""
    variables = make_environment(container, about, sources)
    mounts = [each.mount_path for each in container.volume_mounts]
    rewriter = PathRewriter.of(root, mounts, about.address)
    id = "".join(node.random.id().replace("-", "") for _ in range(2))
    names = node.names(about.pod.metadata.namespace)
    return ContainerRuntimeConfig(container, root, id, rewriter, variables, names)


def container_command(node: NodeContext, config: ContainerRuntimeConfig, hostname: str) -> Launch:
    """How a container is started; ProgramNotFound if its program is not on this machine."""
    container = config.container
    program = node.images.find(container)
    if program is None:
        raise ProgramNotFound(f'image "{container.image}" is not in the image table')
    exec_command = config.rewriter.words(expand_all(container.command, config.variables))
    args = config.rewriter.words(expand_all(container.args, config.variables))
    line = program.line(exec_command, args)
    env = _environment(node, config, program.env, hostname)
    cwd = path_in_root(config.root, container.working_dir)
    return Launch((_found(line, env, container.image), *line[1:]), cwd, env)


def exec_command(
    node: NodeContext, config: ContainerRuntimeConfig, asked: Exec, hostname: str
) -> Launch:
    """How a command is run beside a container, for probes and hooks."""
    image = config.container.image
    program = node.images.locate(image, asked.command)
    words = config.rewriter.words(asked.command)
    line = program.line(words, ()) if program else words
    env = _environment(node, config, program.env if program else {}, hostname)
    # A mark of its own: what is swept at its end is not the container.
    env[CONTAINER] = f"{config.id}-{node.random.id()}"
    return Launch((_found(line, env, image), *line[1:]), config.root, env)


def _environment(
    node: NodeContext, config: ContainerRuntimeConfig, image: Mapping[str, str], hostname: str
) -> dict[str, str]:
    own = config.rewriter.values({**_FOLDERS, **config.variables})
    for name in _FOLDERS:
        if not Path(own[name]).is_relative_to(config.root):
            own[name] = str(path_in_root(config.root, own[name]))
    account = [each for each in config.rewriter.mounts if each == str(SERVICE_ACCOUNT)]
    return {
        **node.inherited,
        **config.names,
        "HOSTNAME": hostname,
        **image,
        **own,
        **({MOUNT_VARIABLE: str(path_in_root(config.root, account[0]))} if account else {}),
        ROOT: str(config.root),
        ADDRESS: config.rewriter.address,
        AGENT: node.mark,
        CONTAINER: config.id,
    }


def _found(line: tuple[str, ...], env: Mapping[str, str], image: str) -> str:
    if not line:
        raise ProgramNotFound(f'image "{image}" has no command in the image table')
    path = shutil.which(line[0], path=env.get("PATH"))
    if path is None:
        raise ProgramNotFound(f'program "{line[0]}" of image "{image}" is not on this machine')
    return path
