"""What only our own lightpeers offer: nobody changes a peer by it who may not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from quintant.agents.lightpeer.options import LightpeerOptions
from quintant.agents.lightpeer.program import served
from quintant.agents.lightpeer.rpc.calls import Call, Failed
from quintant.agents.lightpeer.rpc.channels import Channels
from quintant.agents.lightpeer.rpc.guard import Guard, is_local
from quintant.operators.klight.remote.grpc_peers import GrpcPeers
from quintant.wire.lightpeer import PERSIST, PersistRequest
from quintant.wire.peeradmin import (
    GET_STATUS,
    LEAVE,
    SET_NETWORK,
    TOKEN,
    LeaveRequest,
    NetworkRequest,
    StatusRequest,
)

pytestmark = pytest.mark.realtime

DENIED = 7
WITHIN = 20.0
POLICY = Path(__file__).parents[2] / "deploy" / "klight" / "peers" / "networkpolicy.yaml"


@asynccontextmanager
async def lightpeer(
    folder: Path, token_file: Path | None, host: str = "127.0.0.1"
) -> AsyncIterator[tuple[str, Channels]]:
    """A peer with a written block; its address, and connections to it."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port = probe.getsockname()[1]
    address = f"{host}:{port}"
    options = LightpeerOptions(
        folder / "blocks", host, port, address, "one", False, False, token_file=token_file
    )
    channels = Channels()
    async with served(options) as peer, asyncio.TaskGroup() as group:
        task = group.create_task(peer.run())
        try:
            asked = PersistRequest(b"kept")
            await channels.ask(address, PERSIST, asked, seconds=WITHIN, metadata={})
            yield address, channels
        finally:
            task.cancel()
            await channels.close()


async def height(address: str, channels: Channels) -> int:
    told = await channels.ask(address, GET_STATUS, StatusRequest(), seconds=WITHIN, metadata={})
    return told.message.clients


@pytest.mark.parametrize("shown", ["", "wrong", "righ", "rightt"])
async def test_who_does_not_show_the_token_changes_no_peer(tmp_path: Path, shown: str) -> None:
    token = tmp_path / "token"
    token.write_text("right\n")
    metadata = {TOKEN: shown} if shown else {}
    async with lightpeer(tmp_path, token) as (address, channels):
        await refused(address, channels, metadata)


async def refused(address: str, channels: Channels, metadata: dict[str, str]) -> None:
    """Neither change is made, and what was written is still there."""
    leave = channels.ask(address, LEAVE, LeaveRequest(), seconds=WITHIN, metadata=metadata)
    network = NetworkRequest("a/b")
    call = channels.ask(address, SET_NETWORK, network, seconds=WITHIN, metadata=metadata)
    for change in (leave, call):
        with pytest.raises(Failed) as failed:
            await change
        assert failed.value.code == DENIED
        assert "right" not in failed.value.text
    assert await height(address, channels) == 1


async def test_an_operator_that_shows_the_token_has_a_peer_leave(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("right\n")
    with_token, without = GrpcPeers(token_file=token), GrpcPeers()
    async with lightpeer(tmp_path, token) as (address, channels):
        assert (await without.leave(address, "test", WITHIN)).code == "PERMISSION_DENIED"
        assert (await with_token.leave(address, "test", WITHIN)).code == "OK"
        assert await height(address, channels) == 0
    await with_token.close()
    await without.close()


async def test_without_a_token_this_machine_has_a_peer_leave(tmp_path: Path) -> None:
    async with lightpeer(tmp_path, None) as (address, channels):
        await channels.ask(address, LEAVE, LeaveRequest(), seconds=WITHIN, metadata={})
        assert await height(address, channels) == 0


async def test_without_a_token_nobody_else_has_a_peer_leave(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address besides loopback")
        outward = probe.getsockname()[0]
    async with lightpeer(tmp_path, None, outward) as (address, channels):
        await refused(address, channels, {})


def test_a_token_that_cannot_be_read_or_is_empty_lets_nobody_in(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for path in (empty, tmp_path / "missing"):
        for shown in ({}, {TOKEN: ""}):
            with pytest.raises(Failed):
                Guard(path).check(Call(metadata=shown))


@pytest.mark.parametrize(
    ("peer", "local"),
    [
        ("ipv4:127.0.0.1:80", True),
        ("ipv4:127.42.0.7:80", True),
        ("ipv6:[::1]:80", True),
        ("ipv4:10.0.0.1:80", False),
        ("ipv4:128.127.0.1:80", False),
        ("ipv6:[2001:db8::1]:80", False),
        ("", False),
    ],
)
def test_this_machine_is_told_from_others(peer: str, local: bool) -> None:
    assert is_local(peer) is local


def test_the_policy_keeps_strangers_from_the_port_of_peers() -> None:
    policy = yaml.safe_load(POLICY.read_text())
    guarded, others = policy["spec"]["ingress"]
    assert [each["port"] for each in guarded["ports"]] == [9081]
    assert all("podSelector" in each for each in guarded["from"])
    ranges = [range(each["port"], each["endPort"] + 1) for each in others["ports"]]
    assert not any(9081 in each for each in ranges)
