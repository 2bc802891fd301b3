"""Real chains for tests: a validator as a process of this machine, on an address of its own.

The chain never depends on the pods of a CosmosFullNode: these follow the validator.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

import patience
from foreign.process import Child
from quintant.operators.cosmos.builders.node_key_builder import build_node_key
from quintant.operators.cosmos.remote import HttpNodes, NodeUnreachable, ask_once, ask_status
from quintant.wire import toml
from quintant.wire.comet import P2P_PORT, RPC_PORT, CometStatus

LOOK_SECONDS = 0.05
_NETWORK = 80
"""127.80.0.0/16 and those that follow are no cluster's."""
_KEY = build_node_key(bytes(range(32)))
_SETTINGS = {
    "CONSENSUS_TIMEOUT_COMMIT": "200ms",
    "CONSENSUS_TIMEOUT_PROPOSE": "400ms",
    "P2P_ADDR_BOOK_STRICT": "false",
    "P2P_ALLOW_DUPLICATE_IP": "true",
}
"""As variables: about four blocks a second, and peers on one machine."""
_SNAPSHOTS = ("--state-sync.snapshot-interval=20", "--state-sync.snapshot-keep-recent=0")
"""States to join by; all are kept, so that none goes while a slow machine loads it."""
_GOVERNANCE = {
    "voting_period": "5s",
    "expedited_voting_period": "2s",
    "min_deposit": [{"denom": "stake", "amount": "1"}],
}
Plain = dict[str, Any]


def own_address(number: int = 0) -> str:
    """A loopback address that no other test of this machine has."""
    pid = os.getpid()
    return f"127.{_NETWORK + number}.{pid // 250 % 256}.{1 + pid % 250}"


def call(*line: str | Path) -> str:
    """What a program prints; it has to end well."""
    ran = subprocess.run([str(each) for each in line], check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@dataclass
class Validator:
    """A validator, and with it the chain."""

    program: Path
    home: Path
    chain: str
    arguments: tuple[str, ...] = ()
    """Beside those that every node has."""
    address: str = field(default_factory=own_address)
    child: Child | None = None

    @property
    def rpc(self) -> str:
        return f"http://{self.address}:{RPC_PORT}"

    @property
    def peer(self) -> str:
        """How nodes name it among their peers."""
        return f"{_KEY.node_id}@{self.address}:{P2P_PORT}"

    @property
    def genesis(self) -> Path:
        return self.home / "config/genesis.json"

    @classmethod
    def of_kvstore(cls, program: Path, home: Path, chain: str = "kvstore-1") -> Validator:
        """The validator of a new chain with CometBFT's own application."""
        call(program, "init", "--home", home)
        made = cls(program, home, chain, ("--proxy_app=persistent_kvstore",))
        made.change_genesis({"chain_id": chain})
        return made

    @classmethod
    def of_simd(cls, program: Path, home: Path, chain: str = "simd-1") -> Validator:
        """The validator of a new chain of the Cosmos SDK, which decides proposals in seconds."""
        made = cls(program, home, chain, ("--minimum-gas-prices=0stake", *_SNAPSHOTS))
        call(program, "init", "validator", "--chain-id", chain, "--home", home)
        call(program, "keys", "add", "validator", *made.keyring)
        made.change_genesis({"app_state": {"gov": {"params": _GOVERNANCE}}})
        given = "validator", "1000000000stake"
        call(program, "genesis", "add-genesis-account", *given, *made.keyring)
        staked = "validator", "500000000stake", "--chain-id", chain
        call(program, "genesis", "gentx", *staked, *made.keyring)
        call(program, "genesis", "collect-gentxs", "--home", home)
        return made

    @property
    def keyring(self) -> tuple[str | Path, ...]:
        """Where the keys of its account are."""
        return "--keyring-backend", "test", "--home", self.home

    def send(self, *words: str) -> None:
        """Send a transaction from the validator's account."""
        ways = "--chain-id", self.chain, "--node", f"tcp://{self.address}:{RPC_PORT}"
        given = "--from", "validator", "--gas", "1000000", "--yes", "--output", "json"
        answer = json.loads(call(self.program, "tx", *words, *ways, *given, *self.keyring))
        assert answer["code"] == 0, answer

    def change_genesis(self, change: Plain) -> None:
        """Lay something over the genesis, before the chain begins."""
        found = json.loads(self.genesis.read_text())
        self.genesis.write_text(json.dumps(toml.merge(found, change)))

    @contextmanager
    def running(self) -> Iterator[Validator]:
        """Let it make blocks."""
        (self.home / "config/node_key.json").write_text(_KEY.text)
        self.start()
        try:
            yield self
        finally:
            self.stop()

    def start(self) -> None:
        line = [
            *("env", *(f"{name}={value}" for name, value in self._settings.items())),
            *(str(self.program), "start", "--home", str(self.home), *self.arguments),
            *(f"--p2p.laddr=tcp://{self.address}:{P2P_PORT}", f"--rpc.laddr=tcp://{self.address}:{RPC_PORT}"),
        ]  # fmt: skip
        self.child = Child(line, self.home / "log")

    def stop(self) -> None:
        assert self.child is not None
        self.child.stop()

    @property
    def _settings(self) -> Mapping[str, str]:
        prefix = "SIMD" if self.program.name == "simd" else "CMT"
        return {f"{prefix}_{name}": value for name, value in _SETTINGS.items()}


async def node_status(address: str) -> CometStatus:
    """What a node says of itself; NodeUnreachable if it does not."""
    connection = HttpNodes().connect(address, RPC_PORT)
    try:
        return await ask_status(connection)
    finally:
        await connection.close()


async def answered(address: str, height: int = 0, within: float = 60.0) -> CometStatus:
    """What a node says as soon as it answers, and has a block."""
    async with patience.within(within):
        while True:
            try:
                if (told := await node_status(address)).height >= height:
                    return told
            except NodeUnreachable:
                pass
            await asyncio.sleep(LOOK_SECONDS)


async def peers_of(address: str, count: int, within: float = 60.0) -> list[Any]:
    """The peers of a node, as soon as it has so many: each dials the others in its own time."""
    async with patience.within(within):
        while True:
            peers: list[Any] = (await ask(address, "/net_info"))["peers"]
            if len(peers) >= count:
                return peers
            await asyncio.sleep(LOOK_SECONDS)


async def ask(address: str, path: str) -> Any:
    """The result of a question to a node's RPC."""
    body = await ask_once(HttpNodes(), address, RPC_PORT, path)
    return msgspec.json.decode(body)["result"]


def image_table(folder: Path, image: str, program: Path, *more: Plain) -> Path:
    """An image table whose image is a program of this machine, for shells too."""
    entries: Sequence[Plain] = [
        *more,
        {"image": image, "command": program.name, "argv": [str(program)]},
        {"image": image, "command": "sh", "path": [str(program.parent)]},
    ]
    path = folder / "images.yaml"
    path.write_text(json.dumps({"images": entries}))
    return path
