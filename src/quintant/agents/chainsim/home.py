"""The home of a simulated node: the files of `init`, and data that outlive the process."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from quintant.agents.chainsim.chain import ChainState, UpgradePlan
from quintant.agents.cosmosnode.config_merge import read_toml, write_whole
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.leveldb.database import read_key
from quintant.agents.leveldb.errors import Unreadable
from quintant.agents.leveldb.log_database import LogDatabase
from quintant.wire import toml
from quintant.wire.protobuf import Malformed, Wire, members, number_in, tag, varint

APPLICATION, BLOCKS = b"s/latest", b"blockStore"
_GENESIS_TIME = "2026-01-01T00:00:00Z"


def initialise(home: Path, moniker: str, chain_id: str, random: Random) -> None:
    """Make a home; one that has data is refused."""
    if (home / "config/genesis.json").exists():
        raise NodeToolError(f"cannot make {home}", "there is a genesis already")
    (home / "data").mkdir(parents=True, exist_ok=True)
    (home / "config").mkdir(exist_ok=True)
    write_config(home, moniker, chain_id, random)
    state = {"height": "0", "round": 0, "step": 0}
    write_whole(home / "data/priv_validator_state.json", json.dumps(state).encode())


def write_config(home: Path, moniker: str, chain_id: str, random: Random) -> None:
    """Fresh configuration files."""
    folder = home / "config"
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "moniker": moniker,
        "p2p": {"laddr": "tcp://0.0.0.0:26656", "persistent_peers": ""},
        "rpc": {"laddr": "tcp://127.0.0.1:26657"},
    }
    write_whole(folder / "config.toml", toml.dumps(config).encode())
    write_whole(folder / "app.toml", toml.dumps({"halt-height": 0}).encode())
    genesis = {"chain_id": chain_id, "genesis_time": _GENESIS_TIME, "initial_height": "1"}
    write_whole(folder / "genesis.json", json.dumps(genesis).encode())
    key = base64.b64encode(random.randbytes(64)).decode()
    document = {"priv_key": {"type": "tendermint/PrivKeyEd25519", "value": key}}
    write_whole(folder / "node_key.json", json.dumps(document).encode(), mode=0o600)


@dataclass(frozen=True, slots=True)
class SimulatedConfig:
    """What a node reads when it starts."""

    moniker: str
    chain_id: str
    node_id: str
    rpc: str
    p2p: str
    peers: tuple[str, ...]
    halt_height: int
    plan: UpgradePlan | None

    @classmethod
    def read(cls, home: Path) -> SimulatedConfig:
        """The configuration of a home; NodeToolError if there is none."""
        folder = home / "config"
        config, app = read_toml(folder / "config.toml"), read_toml(folder / "app.toml")
        try:
            chain_id = str(json.loads((folder / "genesis.json").read_bytes())["chain_id"])
            key = json.loads((folder / "node_key.json").read_bytes())["priv_key"]["value"]
            public = base64.b64decode(key)[32:]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NodeToolError(
                f"cannot start {home}", f"a file is missing or damaged: {error!r}"
            ) from None
        p2p, sim = config.get("p2p", {}), config.get("chainsim", {})
        plan = (
            UpgradePlan(str(sim["plan_name"]), int(sim["plan_height"]))
            if "plan_name" in sim
            else None
        )
        return cls(
            moniker=str(config.get("moniker", "")),
            chain_id=chain_id,
            node_id=hashlib.sha256(public).hexdigest()[:40],
            rpc=str(config.get("rpc", {}).get("laddr", "")),
            p2p=str(p2p.get("laddr", "")),
            peers=tuple(
                each.strip()
                for each in str(p2p.get("persistent_peers", "")).split(",")
                if each.strip()
            ),
            halt_height=int(app.get("halt-height", 0)),
            plan=plan,
        )


class ChainData:
    """The data of a node, which real nodes' readers understand."""

    def __init__(self, data: Path) -> None:
        self.folder = data
        self.state: ChainState = _stored(data)
        values = _values(self.state)
        self._application = LogDatabase(data / "application.db", values[0])
        self._blocks = LogDatabase(data / "blockstore.db", values[1])

    def store(self, state: ChainState) -> None:
        """Keep how far a node is."""
        if (state.height, state.executed) == (self.state.height, self.state.executed):
            return
        application, blocks = _values(state)
        self._blocks.put(BLOCKS, blocks[BLOCKS])
        self._application.put(APPLICATION, application[APPLICATION])
        self.state = state

    def write_upgrade(self, plan: UpgradePlan) -> None:
        """Leave word of the upgrade that the node halted for."""
        document = {"name": plan.name, "height": plan.height}
        write_whole(self.folder / "upgrade-info.json", json.dumps(document).encode())

    def close(self) -> None:
        """Write no more."""
        self._application.close()
        self._blocks.close()

    def lose(self) -> None:
        """Have a disk that lost its databases."""
        self.close()
        for path in self.folder.glob("*.db"):
            shutil.rmtree(path)


def _values(state: ChainState) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    blocks = _number(1, 1) + _number(2, state.height)
    return {APPLICATION: _number(1, state.executed)}, {BLOCKS: blocks}


def _number(field: int, value: int) -> bytes:
    return varint(tag(field, Wire.VARINT)) + varint(value)


def _stored(data: Path) -> ChainState:
    blocks = _read(data / "blockstore.db", BLOCKS, 2)
    executed = _read(data / "application.db", APPLICATION, 1)
    return ChainState(height=max(blocks, executed), executed=executed)


def _read(folder: Path, key: bytes, field: int) -> int:
    if not (folder / "CURRENT").exists():
        return 0
    try:
        return number_in(dict(members(read_key(folder, key) or b"")), field)
    except (Unreadable, Malformed) as error:
        raise NodeToolError(f"cannot open {folder}", str(error)) from None
