"""The folders of a node, as its pod's variables name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.embedded_node import pod_path


@dataclass(frozen=True, slots=True)
class ChainHome:
    """Where everything of a node is."""

    home: Path
    config: Path
    data: Path
    genesis: Path
    addrbook: Path
    pristine: Path
    """What the node's own `init` last made."""
    overlays: Path
    """The ConfigMap of the instance."""

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> ChainHome:
        """The home that the environment names; NodeToolError if it names none, PathOutsidePod if
        one that is not the pod's."""

        def variable(name: str) -> Path:
            value = environ.get(name, "")
            if not value:
                raise NodeToolError(
                    "cannot find the home of the node",
                    f"the variable {name} is not set",
                    "run it in a pod of a CosmosFullNode, or set it",
                )
            return pod_path(value, environ)

        own = variable("HOME")
        return cls(
            home=variable("CHAIN_HOME"),
            config=variable("CONFIG_DIR"),
            data=variable("DATA_DIR"),
            genesis=variable("GENESIS_FILE"),
            addrbook=variable("ADDRBOOK_FILE"),
            pristine=own / ".tmp",
            overlays=own / ".config",
        )

    @property
    def has_data(self) -> bool:
        """Whether a node has run here: it has databases."""
        return any(self.data.glob("*.db"))
