"""A network as the cluster shows it: its stack, who waits to join, and who has to leave.

Pure: pods in, a Network out. The stack is the members by `joined-at`, newest first. Invariant: no
two entries of it have the same pod or the same address, and no peer whose address belongs to
another pod by now is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from quintant.core.object import Request
from quintant.operators.klight.api import INCARNATION, PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.membership import Membership, generation_of, intended
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import (
    EVERYWHERE,
    Complaint,
    address_of,
    incarnation_of,
    network_of,
    obstacle,
    port_of,
    started,
)


@dataclass(frozen=True)
class PeerView:
    """A pod with the label, and what klight makes of it."""

    pod: PeerPod
    network: Request
    address: str
    incarnation: str
    record: Membership | None
    obstacle: str
    """Why it cannot be a member now; empty if it can."""
    complaints: tuple[Complaint, ...] = ()

    @property
    def uid(self) -> str:
        return self.pod.metadata.uid

    @property
    def key(self) -> Request:
        return self.pod.key

    @cached_property
    def current(self) -> bool:
        """Whether the record is about this very life of the peer, here."""
        return self.record is not None and (
            self.record.network == str(self.network)
            and self.record.incarnation == self.incarnation
            and self.record.address == self.address
        )

    @property
    def elsewhere(self) -> bool:
        """Whether it is recorded as a member of another network, which it has to leave first."""
        return self.record is not None and not same(self.record.network, self.network)

    @property
    def lapsed(self) -> bool:
        """Whether this very life of the peer was a member before."""
        return self.pod.metadata.annotations.get(INCARNATION) == self.incarnation

    @property
    def intended(self) -> bool:
        """Whether a process was about to join this very life of the peer, and did not write down
        how it went."""
        return intended(self.pod.metadata.annotations) == self.incarnation

    @property
    def generation(self) -> int:
        return generation_of(self.pod.metadata.annotations)

    @property
    def age(self) -> tuple[str, str, str]:
        """Orders peers, oldest first."""
        meta = self.pod.metadata
        return meta.creation_timestamp or "", meta.namespace, meta.name


@dataclass(frozen=True)
class Observed:
    """What is known of a network from its pods and its LightNetwork alone."""

    key: Request
    stack: tuple[PeerView, ...] = ()
    """Members, newest first."""
    candidates: tuple[PeerView, ...] = ()
    """Those who should become members, oldest first."""
    excluded: tuple[PeerView, ...] = ()
    """Those who cannot be members now."""
    leavers: tuple[PeerPod, ...] = ()
    """Pods of other networks, or of none, that are recorded in this one."""
    lightnetwork: LightNetwork | None = None
    """The object that shows the network, if there is one."""

    @property
    def paused(self) -> bool:
        """Whether no pod is joined, dropped or repaired."""
        return self.lightnetwork is not None and bool(self.lightnetwork.spec.paused)

    @property
    def listed(self) -> dict[str, Request]:
        """The pods that the status shows, by uid: those known before this process began."""
        lightnetwork = self.lightnetwork
        if lightnetwork is None or lightnetwork.status is None:
            return {}
        home, spans = lightnetwork.metadata.namespace, self.key.namespace == EVERYWHERE
        keys = ((peer.uid, peer.pod.rpartition("/")) for peer in lightnetwork.status.peers)
        return {
            uid: Request(name, namespace or home)
            for uid, (namespace, _, name) in keys
            if uid and name and (spans or not namespace)
        }

    @property
    def peers(self) -> tuple[PeerView, ...]:
        """Every pod with the network's label."""
        return (*self.stack, *self.candidates, *self.excluded)

    @property
    def uids(self) -> set[str]:
        """Every pod that the network has to do with."""
        leaving = {pod.metadata.uid for pod in self.leavers}
        return {peer.uid for peer in self.peers} | leaving


Rivals = Callable[[str], Iterable[PeerPod]]
"""All pods, of any network, that say they are at an address."""


def peer_of(
    pod: PeerPod, options: Options, unsaved: Mapping[str, Membership] | None = None
) -> PeerView | None:
    """A pod as a peer; None if its label names no network.

    `unsaved` are records that could not be written yet, by uid: they count all the same.
    """
    network = network_of(pod, options)
    if network is None:
        return None
    record = (unsaved or {}).get(pod.metadata.uid) or Membership.read(pod.metadata.annotations)
    _, complaints = port_of(pod, options)
    return PeerView(
        pod, network, address_of(pod, options), incarnation_of(pod), record, obstacle(pod),
        complaints,
    )  # fmt: skip


def view(
    key: Request,
    peers: Iterable[PeerView],
    leavers: Iterable[PeerPod],
    rivals: Rivals,
    lightnetwork: LightNetwork | None = None,
) -> Observed:
    """Sort the pods of a network."""
    judged = [contested(peer, rivals) for peer in peers]
    able = [peer for peer in judged if not peer.obstacle]
    stack = [peer for peer in able if peer.current]
    waiting = [peer for peer in able if not peer.current]
    return Observed(
        key,
        tuple(sorted(stack, key=_joined, reverse=True)),
        tuple(sorted(waiting, key=lambda peer: peer.age)),
        tuple(sorted((peer for peer in judged if peer.obstacle), key=lambda peer: peer.age)),
        tuple(leavers),
        lightnetwork,
    )


def same(recorded: str, network: Request) -> bool:
    """Whether a record is about a network; one that spans namespaces continues as any of its
    parts, so that a change of scope makes no peer leave."""
    namespace, _, name = recorded.partition("/")
    spans = EVERYWHERE in (namespace, network.namespace)
    return name == network.name and (spans or namespace == network.namespace)


def contested(peer: PeerView, rivals: Rivals) -> PeerView:
    """The peer, with an obstacle if its address belongs to another pod."""
    if peer.obstacle:
        return peer
    others = (pod for pod in rivals(peer.address) if pod.metadata.uid != peer.uid)
    for other in others:
        if not obstacle(other) and _loses(peer.pod, other):
            return _without(peer, other)
    return peer


def _without(peer: PeerView, owner: PeerPod) -> PeerView:
    if _shared(peer.pod, owner):
        message = f"its address is that of pod {owner.key}"
        note = f"pod {owner.key} has {peer.address} already; give one of them another port"
    else:
        message = f"its address went to pod {owner.key}"
        note = f"pod {owner.key}, which is newer, has {peer.address} as well; it counts there"
    complaint = Complaint("AddressConflict", note)
    return replace(peer, obstacle=message, complaints=(*peer.complaints, complaint))


def _loses(pod: PeerPod, other: PeerPod) -> bool:
    """Whether an address that two pods claim is the other's."""
    if _shared(pod, other):
        return _made(other) < _made(pod)
    # An address is given to a new pod only after the old one lost it: the newer one has it.
    return _newness(other) > _newness(pod)


def _shared(pod: PeerPod, other: PeerPod) -> bool:
    return pod.spec.host_network or other.spec.host_network


def _made(pod: PeerPod) -> tuple[str, str, str]:
    return pod.metadata.creation_timestamp or "", pod.metadata.namespace, pod.metadata.name


def _newness(pod: PeerPod) -> tuple[str, str, bool, str]:
    fresh = Membership.read(pod.metadata.annotations) is None
    return started(pod), pod.metadata.creation_timestamp or "", fresh, pod.metadata.uid


def _joined(peer: PeerView) -> tuple[str, str]:
    assert peer.record is not None, "members have a record"
    return peer.record.joined_at, peer.uid
