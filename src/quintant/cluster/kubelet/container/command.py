"""ExpandContainerCommandAndArgs: from a container to a command line, a folder and variables.

Variables of the container win over those of its image, and these over what every program needs;
paths and addresses are made those of this machine, in the words of the image table, too. Two things
of the table are no pod's to replace by what it mounts: files of this machine that are named in
`argv`, and variables by which a program finds code.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath

from quintant.api.container import Container, ExecAction
from quintant.client.config.pod_environment import MOUNT_VARIABLE, SERVICE_ACCOUNT
from quintant.cluster.kubelet.container.downward_api import DownwardSource
from quintant.cluster.kubelet.container.env import (
    ContainerConfigError,
    EnvSources,
    make_environment,
)
from quintant.cluster.kubelet.container.expand_vars import expand, expand_all, references
from quintant.cluster.kubelet.container.images import OURS, ImageProgram
from quintant.cluster.kubelet.container.loaders import is_loader, kept_variables
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.process.orphans import AGENT, CONTAINER
from quintant.cluster.kubelet.process.protocols import Launch, ProgramNotFound, StartError
from quintant.cluster.kubelet.volume.claim_sizes import CLAIMS, claims_file
from quintant.cluster.kubelet.volume.mounts import own_folders
from quintant.cluster.kubelet.volume.rootfs import (
    ADDRESS,
    ROOT,
    VOLUMES,
    PathRewriter,
    path_in_root,
    require_inside,
)
from quintant.core.object import replace as with_fields

TERMINATION = "/dev/termination-log"
"""Where a container may leave its last words, unless it says otherwise."""
TERM = "xterm"
"""What a program takes a terminal for, unless the container says otherwise."""
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
    claims: Path | None = None
    """The file that tells its program how large its claims are, if it has any."""

    @property
    def termination_message_path(self) -> Path:
        """The file whose text is told when the container has ended; OSError if it is elsewhere."""
        path = path_in_root(self.root, _termination_path(self.container))
        return require_inside(path, self.own_folders)

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """Its root, and the volumes that it mounts."""
        return own_folders(self.container, self.root)

    def expand(self, path: str) -> str:
        """A path with references to variables, as subPathExpr has; ContainerConfigError if it leads
        nowhere, or out of its volume."""
        if missing := [name for name in references(path) if not self.variables.get(name)]:
            raise ContainerConfigError(f"subPathExpr: missing value for {', '.join(missing)}")
        found = PurePath(expand(path, self.variables))
        # Without the path itself: a value may be that of a Secret.
        if found.is_absolute() or ".." in found.parts:
            raise ContainerConfigError(f"subPathExpr {path} must be a path within its volume")
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
    rewriter = PathRewriter.of(root, [*mounts, _termination_path(container)], about.address)
    id = "".join(node.random.id().replace("-", "") for _ in range(2))
    names = node.names(about.pod.metadata.namespace)
    claims = claims_file(container, root, about.pod.spec)
    return ContainerRuntimeConfig(container, root, id, rewriter, variables, names, claims)


def _termination_path(container: Container) -> str:
    return container.termination_message_path or TERMINATION


def container_command(node: NodeContext, config: ContainerRuntimeConfig, hostname: str) -> Launch:
    """How a container is started; StartError if its program is not allowed, or not there."""
    container = config.container
    found = node.images.find(container)
    if found is None:
        raise ProgramNotFound(f'image "{container.image}" is not in the image table')
    program = _rewritten(found, config.rewriter)
    command = config.rewriter.words(expand_all(container.command, config.variables))
    args = config.rewriter.words(expand_all(container.args, config.variables))
    line = program.line(command, args)
    cwd = path_in_root(config.root, container.working_dir)
    launch = _launch(node, config, program, line, hostname, cwd)
    env = {"TERM": TERM, **launch.env} if container.tty else launch.env
    return replace(launch, env=env, stdin=container.stdin, tty=container.tty)


def exec_command(
    node: NodeContext, config: ContainerRuntimeConfig, action: ExecAction, hostname: str
) -> Launch:
    """How a command of a probe or hook is run beside a container, if the image table has it."""
    words = config.rewriter.words(action.command)
    return command_beside(node, config, action.command, words, hostname, config.root)


def command_beside(
    node: NodeContext,
    config: ContainerRuntimeConfig,
    command: Sequence[str],
    words: Sequence[str],
    hostname: str,
    cwd: Path,
) -> Launch:
    """How a command is run beside a container; `words` are its own with this machine's paths."""
    rewritten = partial(_rewritten, rewriter=config.rewriter)
    found = node.images.exec_line(config.container, command, words, rewritten)
    if found is None:
        raise _refusal(config.container.image, words)
    launch = _launch(node, config, *found, hostname, cwd)
    # A mark of its own: what is swept at its end is not the container.
    return replace(launch, env={**launch.env, CONTAINER: f"{config.id}-{node.random.id()}"})


def _launch(
    node: NodeContext,
    config: ContainerRuntimeConfig,
    program: ImageProgram,
    line: tuple[str, ...],
    hostname: str,
    cwd: Path,
) -> Launch:
    image = config.container.image
    if not program.allows(line):
        raise _refusal(image, line[len(program.argv) :], program.subcommands)
    env = _environment(node, config, program, hostname)
    # Which file a name of the table means is not for the pod to say.
    path = program.search_path(node.inherited.get("PATH", "")) if program.argv else env.get("PATH")
    return Launch((_found(line, path, image), *line[1:]), cwd, env)


def _rewritten(program: ImageProgram, rewriter: PathRewriter) -> ImageProgram:
    """An entry of the table with paths and addresses of this machine."""
    kept = {
        name: value for name, value in program.env.items() if is_loader(name) or name in _FOLDERS
    }
    return with_fields(
        program,
        argv=(*program.argv[:1], *rewriter.words(program.argv[1:], keep=os.path.exists)),
        args=rewriter.words(program.args),
        env={**rewriter.values(program.env), **kept},
    )


def _refusal(image: str, words: Sequence[str], allowed: Sequence[str] = ()) -> StartError:
    """Why a command is not run, and what to do about it."""
    word = words[0] if words else ""
    if allowed:
        return StartError(
            f'"{OURS} {word}" is not run in pods, only {", ".join(allowed)}: for another program '
            f'add an image of your own, {{image: "example/mine", argv: [...]}}, to the image table '
            "(--images)"
        )
    return StartError(
        f'the image table has no command "{word}" for image "{image}": allow it with '
        f'{{image: "{image}", command: "{word}"}} in the image table (--images)'
    )


def _environment(
    node: NodeContext, config: ContainerRuntimeConfig, program: ImageProgram, hostname: str
) -> dict[str, str]:
    """All variables of a program; `program` is rewritten already."""
    kept = kept_variables(config.variables, program)
    account = [each for each in config.rewriter.mounts if each == str(SERVICE_ACCOUNT)]
    found = {
        **node.inherited,
        **config.names,
        "HOSTNAME": hostname,
        **program.env,
        **config.rewriter.values(kept),
        **_folders(config, {**_FOLDERS, **program.env, **kept}),
        **({MOUNT_VARIABLE: str(path_in_root(config.root, account[0]))} if account else {}),
        **({CLAIMS: str(config.claims)} if config.claims is not None else {}),
        ROOT: str(config.root),
        VOLUMES: json.dumps([str(each) for each in config.own_folders[1:]]),
        ADDRESS: config.rewriter.address,
        AGENT: node.mark,
        CONTAINER: config.id,
    }
    if program.path:
        found["PATH"] = os.pathsep.join((*program.path, found.get("PATH", os.defpath)))
    return found


def _folders(config: ContainerRuntimeConfig, environment: Mapping[str, str]) -> dict[str, str]:
    """The folders that every program has: in a volume that is mounted there, or in its root."""
    found = {name: config.rewriter.text(environment[name]) for name in _FOLDERS}
    for name, folder in found.items():
        if folder == environment[name]:
            found[name] = str(path_in_root(config.root, folder))
    return found


def _found(line: tuple[str, ...], path: str | None, image: str) -> str:
    if not line:
        raise ProgramNotFound(f'image "{image}" has no command in the image table')
    found = shutil.which(line[0], path=path)
    if found is None:
        raise ProgramNotFound(
            f'program "{line[0]}" of image "{image}" is not on this machine: install it, or name '
            "another in the image table (--images)"
        )
    return found
