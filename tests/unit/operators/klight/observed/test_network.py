"""A network from its pods: whatever they claim, its stack is in order."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quintant.core import codec
from quintant.core.object import Request, replace
from quintant.operators.klight.api import LABEL, PeerPod
from quintant.operators.klight.observed.membership import Membership, cleared
from quintant.operators.klight.observed.network import peer_of, same, view
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import incarnation_of

KEY = Request("a", "ns")
OPTIONS = Options()

PODS = st.lists(
    st.fixed_dictionaries(
        {
            "ip": st.integers(1, 4),
            "joined": st.none() | st.integers(0, 9),
            "network": st.sampled_from(["ns/a", "ns/b", "*/a"]),
            "made": st.integers(0, 3),
            "host": st.booleans(),
            "phase": st.sampled_from(["Running", "Running", "Pending"]),
            "old": st.booleans(),
        }
    ),
    max_size=8,
)


def pod(number: int, traits: dict[str, Any]) -> PeerPod:
    body = {
        "metadata": {
            "name": f"p{number}",
            "namespace": "ns",
            "uid": f"u{number}",
            "labels": {LABEL: "a"},
            "creationTimestamp": f"2026-01-01T00:00:0{traits['made']}Z",
        },
        "spec": {"containers": [{"name": "lightpeer"}], "hostNetwork": traits["host"]},
        "status": {"phase": traits["phase"], "podIP": f"10.0.0.{traits['ip']}"},
    }
    made = codec.decode(PeerPod, codec.encode(body))
    if traits["joined"] is None:
        return made
    life = "another" if traits["old"] else incarnation_of(made)
    record = Membership(
        traits["network"], life, f"10.0.0.{traits['ip']}:9081",
        f"2026-01-01T00:00:0{traits['joined']}.000000Z", "founder",
    )  # fmt: skip
    return replace(made, metadata=replace(made.metadata, annotations=record.annotations()))


@given(PODS)
def test_stack_has_every_pod_and_every_address_once(traits: list[dict[str, Any]]) -> None:
    pods = [pod(number, each) for number, each in enumerate(traits)]
    peers = [peer for each in pods if (peer := peer_of(each, OPTIONS))]
    network = view(KEY, peers, (), lambda address: [p.pod for p in peers if p.address == address])
    everybody = (*network.stack, *network.candidates)
    assert len({peer.uid for peer in network.peers}) == len(pods)
    assert len({peer.address for peer in everybody}) == len(everybody)
    moments = [peer.record.joined_at for peer in network.stack if peer.record]
    assert moments == sorted(moments, reverse=True)
    assert all(peer.current and not peer.obstacle for peer in network.stack)
    assert [peer.age for peer in network.candidates] == sorted(p.age for p in network.candidates)


@given(PODS)
def test_some_pod_has_every_address_that_is_claimed(traits: list[dict[str, Any]]) -> None:
    pods = [pod(number, {**each, "phase": "Running"}) for number, each in enumerate(traits)]
    peers = [peer for each in pods if (peer := peer_of(each, OPTIONS))]
    network = view(KEY, peers, (), lambda address: [p.pod for p in peers if p.address == address])
    held = {peer.address for peer in (*network.stack, *network.candidates)}
    hosts = {peer.address for peer in peers if peer.pod.spec.host_network}
    # Where pods of a node and of the cluster's network meet, nobody may win: better none than two.
    assert {peer.address for peer in peers} - held <= hosts


def test_record_survives_its_annotations() -> None:
    record = Membership("ns/a", "u/1", "10.0.0.1:9081", "2026-01-01T00:00:00.000000Z", "founder", 3)
    assert Membership.read(record.annotations()) == record
    assert Membership.read(cleared(record.annotations())) is None
    assert Membership.read({}) is None


def test_change_of_scope_is_no_move() -> None:
    assert same("*/a", Request("a", "ns"))
    assert same("ns/a", Request("a", "*"))
    assert not same("ns/a", Request("a", "other"))
    assert not same("ns/b", Request("a", "ns"))
