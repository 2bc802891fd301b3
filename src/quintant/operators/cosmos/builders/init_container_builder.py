"""The init containers of a pod: what prepares the home of a node before it starts. Pure.

clean-init          empties the folder for temporary files
chain-init          the node's own `init`, into a new home, and always into that folder
genesis-init        genesis.json, by script, by URL, or from `init`; not over data
addrbook-init       addrbook.json, by script or by URL; not over one that is there
config-merge        the files of `init` with the ConfigMap laid over them, and the node key
snapshot-restore    data from an archive; not over data
version-check       tells the height that is in the data, and refuses a wrong version
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quintant.operators.cosmos.api import CHAIN_INIT, HOME, HOME_VOLUME
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import Instance

_TEMPORARY = f"{HOME}/.tmp"
_CONFIG = f"{HOME}/.config"
_HOME_DIR = "cosmos"
_HAS_DATA = 'ls "$DATA_DIR"/*.db >/dev/null 2>&1'
_HAS_BOOK = '[ -f "$ADDRBOOK_FILE" ]'

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tools:
    """The image with our programs for nodes, and what starts them there."""

    image: str
    command: tuple[str, ...] = ("quintant", "agent", "cosmosnode")

    def container(self, name: str, *args: str) -> Plain:
        """A container that runs one of them."""
        return {
            "name": name,
            "image": self.image,
            "command": list(self.command),
            "args": list(args),
            # What it says at its end is the reason that the status shows.
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }

    @property
    def resources(self) -> Mapping[str, Any]:
        """What a sidecar asks for: a Python process has 25 MB."""
        return {"requests": {"cpu": "5m", "memory": "32Mi"}}

    @property
    def identity(self) -> list[Plain]:
        """How a program knows which pod it is in."""
        paths = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
        return [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
            for name, path in paths.items()
        ]


def chain_home(full_node: CosmosFullNode) -> str:
    """The home of the node, on its volume."""
    return f"{HOME}/{full_node.spec.chain.home_dir or _HOME_DIR}"


def environment(full_node: CosmosFullNode) -> list[Plain]:
    """The variables that name the home, for every container."""
    home = chain_home(full_node)
    values = {
        "HOME": HOME,
        "CHAIN_HOME": home,
        "GENESIS_FILE": f"{home}/config/genesis.json",
        "ADDRBOOK_FILE": f"{home}/config/addrbook.json",
        "CONFIG_DIR": f"{home}/config",
        "DATA_DIR": f"{home}/data",
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def mount(volume: str, path: str, *, read_only: bool = False) -> Plain:
    """A volume at a path."""
    return {"name": volume, "mountPath": path, **({"readOnly": True} if read_only else {})}


def build_init_containers(
    full_node: CosmosFullNode, instance: Instance, tools: Tools
) -> list[Plain]:
    """All of them, in order."""
    chain = full_node.spec.chain
    backend = ("-b", chain.database_backend) if chain.database_backend else ()
    built = [
        tools.container("clean-init", "clean", _TEMPORARY),
        _chain_init(full_node, instance),
        _fetch(tools, "genesis", chain.genesis_script, chain.genesis_url, _HAS_DATA),
        _fetch(tools, "addrbook", chain.addrbook_script, chain.addrbook_url, _HAS_BOOK),
        tools.container("config-merge", "config-merge"),
    ]
    if chain.snapshot_script or chain.snapshot_url:
        script, url = chain.snapshot_script, chain.snapshot_url
        built.append(_fetch(tools, "snapshot", script, url, _HAS_DATA))
    built.append(tools.container("version-check", "versioncheck", *backend))
    shared = _shared(full_node)
    for container in built:
        container.update(shared)
    built[-1]["env"] = [*shared["env"], *tools.identity]
    return built


def _shared(full_node: CosmosFullNode) -> Plain:
    policy = full_node.spec.pod_template.image_pull_policy
    return {
        **({"imagePullPolicy": policy} if policy else {}),
        "env": environment(full_node),
        "workingDir": HOME,
        "volumeMounts": [
            mount(HOME_VOLUME, chain_home(full_node)),
            mount("vol-system-tmp", "/tmp"),
            mount("vol-tmp", _TEMPORARY),
            mount("vol-config", _CONFIG),
        ],
    }


def _chain_init(full_node: CosmosFullNode, instance: Instance) -> Plain:
    chain = full_node.spec.chain
    words = (chain.binary, "init", "--chain-id", shlex.quote(chain.chain_id), instance.name)
    init = " ".join([*words, *chain.additional_init_args])
    script = (
        "set -eu\n"
        'if [ ! -d "$CHAIN_HOME/data" ]; then\n'
        f'  {init} --home "$CHAIN_HOME"\n'
        "fi\n"
        f'{init} --home "$HOME/.tmp"\n'
    )
    image = full_node.spec.pod_template.image or ""
    return {"name": CHAIN_INIT, "image": image, "command": ["sh"], "args": ["-c", script]}


def _fetch(tools: Tools, what: str, script: str, url: str, there: str) -> Plain:
    """A file or an archive: by the user's script if there is one, else by our program."""
    name = f"{what}-restore" if what == "snapshot" else f"{what}-init"
    if script:
        whole = f"set -eu\nif {there}; then\n  exit 0\nfi\n{script}\n"
        command = {"command": ["sh"], "args": ["-c", whole]}
        return {"name": name, "image": tools.image, **command}
    return tools.container(name, "fetch", what, *(("--url", url) if url else ()))
