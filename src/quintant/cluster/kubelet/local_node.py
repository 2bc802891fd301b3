"""The node of `quintant up`: this machine, for as long as a context lasts.

Leaving it ends every program of every pod and removes their folders. What could not be cleaned up
because a kubelet was killed is cleaned up by the next one
(quintant.cluster.kubelet.process.orphans).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from stat import S_ISDIR
from typing import Final

from msgspec import Struct

from quintant.cluster.apiserver.kubelet_client.log_provider import LogProvider
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import StreamingRuntime
from quintant.cluster.common.labels import NODE
from quintant.cluster.common.pod_ips import PodIPs
from quintant.cluster.common.volume_paths import ROOT
from quintant.cluster.component.component import Component
from quintant.cluster.host.loopback import LoopbackShare
from quintant.cluster.host.remove_tree import discard_folder
from quintant.cluster.kubelet.cluster_access import ClusterAccess
from quintant.cluster.kubelet.container.images import Images
from quintant.cluster.kubelet.kubelet import Kubelet
from quintant.cluster.kubelet.node_context import NodeContext, NodePolicy
from quintant.cluster.kubelet.node_status import NEEDS, Heartbeat, MachineInfo, this_machine
from quintant.cluster.kubelet.options import NodeOptions
from quintant.cluster.kubelet.probe.network import NetworkProber
from quintant.cluster.kubelet.process.orphans import PREFIX, process_mark, reap
from quintant.cluster.kubelet.process.proc_stats import UsageSampler
from quintant.cluster.kubelet.process.processes import LocalProcesses
from quintant.cluster.kubelet.process_nodes.controller import ProcessNodes, running_process_nodes
from quintant.cluster.kubelet.running import GROUPS, running_kubelet, running_sampler
from quintant.core.errors import ConfigError
from quintant.runtime.manager.manager import Manager
from quintant.runtime.observe.logs import get_logger

FOLDER_MODE, OTHERS = 0o700, 0o077
"""Pods' files hold secrets: nobody else may enter."""
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What programs get of our environment; the rest may hold secrets of whoever started us."""

log: Final = get_logger()


class LocalNode(Struct, frozen=True):
    """A node at work: the component to run, and what others ask it for."""

    component: Component
    logs: tuple[LogProvider, ...]
    runtimes: tuple[StreamingRuntime, ...]
    images: Images
    addresses: PodIPs
    storage: Path
    stop_starting: Callable[[], None]
    """To be called as soon as the node is to go: no program is started any more."""
    name: str = NODE


@asynccontextmanager
async def local_node(
    options: NodeOptions, share: LoopbackShare, access: ClusterAccess
) -> AsyncIterator[LocalNode]:
    """This machine as a node; its component is to be run within the context."""
    sign = f"{process_mark()}-{access.random.id()}"
    with kubelet_folder(Path(tempfile.gettempdir()), f"{PREFIX}{sign}") as folder:
        for pid in reap(folder.parent):
            log.warning("ended an orphan", pid=pid)
        machine = this_machine(NODE, share.host, folder)
        node = NodeContext(
            folder,
            options.storage or folder / ROOT,
            access.api,
            Images(options.programs),
            PodIPs(share.pods),
            LocalProcesses(),
            NetworkProber(),
            access.clock,
            access.random,
            NodePolicy(options.host_paths),
            sign,
            {name: os.environ[name] for name in INHERITED if name in os.environ},
            machine.capacity,
            host=share.host,
            names=access.names,
        )
        # Outside, so that all nodes end side by side: `stop_starting` begins it.
        beside = running_process_nodes(node, machine, access, options.process_nodes)
        async with beside as others, _running_node(node, machine, access, others) as local:
            yield local


@contextmanager
def kubelet_folder(path: Path, name: str) -> Iterator[Path]:
    """A folder of this kubelet's in a place that others can write to; nothing of it stays."""
    folder = _make_folder(path, name)
    try:
        yield folder
    finally:
        discard_folder(folder)
        # Not while other kubelets of this user are at work there.
        with suppress(OSError):
            folder.parent.rmdir()


def _make_folder(path: Path, name: str) -> Path:
    while True:
        folder = user_folder(path) / name
        # The last kubelet before us may have taken the user's folder away just now.
        with suppress(FileNotFoundError):
            folder.mkdir(mode=FOLDER_MODE)
            return folder


@asynccontextmanager
async def _running_node(
    node: NodeContext, machine: MachineInfo, access: ClusterAccess, others: ProcessNodes
) -> AsyncIterator[LocalNode]:
    async with running_kubelet(node) as kubelet, running_sampler(kubelet) as sampler:

        def stop_starting() -> None:
            kubelet.stop_starting()
            others.shut_down()

        yield LocalNode(
            _component(kubelet, Heartbeat(machine, node.clock, access.times), sampler, others),
            (kubelet, others),
            (kubelet, others),
            node.images,
            node.addresses,
            node.storage,
            stop_starting,
        )


def _component(
    kubelet: Kubelet, heartbeat: Heartbeat, sampler: UsageSampler, others: ProcessNodes
) -> Component:
    """Who the kubelet is to the API server, and all that it does there."""
    manager = Manager(f"node:{kubelet.node.name}")
    kubelet.declare(manager)
    manager.add(heartbeat.run)
    others.declare(manager)
    return Component(manager, GROUPS, NEEDS, meter=sampler)


def user_folder(path: Path) -> Path:
    """The folder of this user's kubelets in a place that others can write to, too."""
    folder = path / f"quintant-{os.getuid()}"
    try:
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except FileExistsError:
        pass  # a file or a link: it is looked at below
    except PermissionError as error:
        raise _unusable_folder(folder, str(error)) from None
    found = folder.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & OTHERS:
        raise _unusable_folder(folder, "it is not a folder of yours that only you may enter")
    return folder


def _unusable_folder(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot use {folder} for the files of pods",
        because=why,
        hint="remove it, or set TMPDIR to another place",
    )
