"""klight, explored: five peers join, leave, restart, and are brought together again.

Peers are a model: joins, leaves and repairs are calls that can be lost, refused, or be the last
thing that the controller did. Some are of another make: they cannot tell that they were joined
before, and whoever joins one twice lists it twice. A small kubelet, which is no part of the test,
runs the pods and their peers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintant import Context, Manager, Request, Shards, replace
from quintant.api.core import Container, Pod, PodSpec
from quintant.api.pod import ContainerState, ContainerStateRunning, ContainerStatus, PodStatus
from quintant.core.clock import timestamp
from quintant.operators.klight import controllers
from quintant.operators.klight.api import JOINED_VIA, LABEL
from quintant.operators.klight.api.lightnetwork import REPAIR, LightNetwork, LightNetworkSpec
from quintant.operators.klight.observed.answers import Answer, Contents, PeerHealth
from quintant.operators.klight.options import Options
from quintant.operators.klight.rules import object_name
from quintant.testing import (
    FaultMode,
    RemoteModel,
    Scenario,
    ScenarioWorld,
    SpecScenario,
    effect,
    named,
)
from quintant.testing.explore.injection.fault import CRASHES, MEMBER_MODES
from quintant.testing.simulate.remotes.peers import Model, ModelledPeers, Mood
from quintant.wire.lightpeer import PORT
from quintant.wire.peeradmin import StatusResponse

NET = "a"
NAMES = ("p1", "p2", "p3", "p4", "p5")
# A join of unknown outcome is left alone for half a minute, and nothing happens meanwhile.
CALM_SECONDS = 45.0
# A few sweeps, in which it is seen that members do not see each other.
SPLIT_SECONDS = 30.0


class PeerNetwork(RemoteModel):
    """The peers; what changes them is a point of an exploration."""

    def __init__(self, own: bool) -> None:
        self.peers, self._own = ModelledPeers(), own
        self._pods: dict[str, str] = {}

    def start(self, address: str, pod: str) -> None:
        """Let the peer of a pod run; that of another pod is another one at the same address."""
        if self._pods.get(address) != pod:
            self.stop(address)
            self._pods[address] = pod
            self.peers.add(address, own=self._own)

    def restart(self, address: str) -> None:
        """Let a peer lose its memory: another life in the same pod."""
        self.peers.kill(address)
        self.peers.add(address, own=self._own)

    def stop(self, address: str) -> None:
        """End a peer."""
        if self._pods.pop(address, None) is not None:
            self.peers.kill(address)

    @property
    def serving(self) -> list[Model]:
        return [each for each in self.peers.models.values() if each.mood is Mood.SERVING]

    @effect
    async def join(self, address: str, contact: str, within: float) -> Answer:
        self.ledger.changes += 1
        return await self.peers.join(address, contact, within)

    @effect
    async def leave(self, address: str, reason: str, within: float) -> Answer:
        self.ledger.changes += 1
        return await self.peers.leave(address, reason, within)

    @effect
    async def regroup(self, members: Sequence[str], port: int, within: float) -> dict[str, Answer]:
        self.ledger.changes += 1
        return await self.peers.regroup(members, port, within)

    @effect
    async def collect(self, contact: str, members: Sequence[str], within: float) -> Answer:
        self.ledger.changes += 1
        return await self.peers.collect(contact, members, within)

    def state(self) -> Any:
        return {
            each.address: {"members": sorted(each.view), "contents": sorted(each.contents)}
            for each in self.serving
        }


class Obliging(PeerNetwork):
    """Peers that refuse nothing; answers are lost all the same."""

    refusals = ()


class PeerCalls:
    """The peers as klight calls them: whatever happens to a call is an answer."""

    def __init__(self, network: PeerNetwork) -> None:
        self._network, self._peers = network, network.peers

    async def check(self, address: str, within: float) -> PeerHealth:
        return await self._peers.check(address, within)

    async def inspect(self, address: str, within: float) -> PeerHealth:
        return await self._peers.inspect(address, within)

    async def status(self, address: str, within: float) -> StatusResponse | None:
        return await self._peers.status(address, within)

    async def contents(self, address: str, within: float) -> Contents:
        return await self._peers.contents(address, within)

    async def newest(self, address: str, within: float) -> bytes:
        return await self._peers.newest(address, within)

    async def blank(self, address: str, within: float) -> bool | None:
        return await self._peers.blank(address, within)

    async def join(self, address: str, contact: str, within: float) -> Answer:
        try:
            return await self._network.join(address, contact, within)
        except OSError as error:
            return answer_of(error)

    async def leave(self, address: str, reason: str, within: float) -> Answer:
        try:
            return await self._network.leave(address, reason, within)
        except OSError as error:
            return answer_of(error)

    async def regroup(self, members: Sequence[str], port: int, within: float) -> dict[str, Answer]:
        try:
            return await self._network.regroup(members, port, within)
        except OSError as error:
            return dict.fromkeys(members, answer_of(error))

    async def collect(self, contact: str, members: Sequence[str], within: float) -> Answer:
        try:
            return await self._network.collect(contact, members, within)
        except OSError as error:
            return answer_of(error)


def answer_of(error: OSError) -> Answer:
    """What gRPC makes of a broken or silent connection."""
    late = isinstance(error, TimeoutError)
    return Answer("DEADLINE_EXCEEDED" if late else "UNAVAILABLE", str(error))


def address_of(name: str) -> str:
    return f"10.0.0.{name.removeprefix('p')}:{PORT}"


def kubelet(network: PeerNetwork) -> Manager:
    """Runs every pod, and the peer in it."""

    async def reconcile(pod: Pod, ctx: Context[Pod]) -> None:
        network.start(address_of(pod.metadata.name), pod.metadata.uid)
        if pod.status.phase != "Running":
            await ctx.client.set_status(pod, running(pod, timestamp(ctx.clock.now())))

    def forget(request: Request) -> None:
        network.stop(address_of(request.name))

    manager = Manager("kubelet")
    manager.controls(Pod).on_deleted(forget).reconcile(reconcile)
    return manager


def pod(name: str, network: str) -> Pod:
    """The pod of a peer."""
    spec = PodSpec(containers=(Container(name="lightpeer", image="lightpeer"),))
    return Pod(metadata=named(name, labels={LABEL: network}), spec=spec)


def running(pod: Pod, since: str, life: int = 1) -> PodStatus:
    """The status of a pod that runs; another life is another incarnation of its container."""
    container = ContainerStatus(
        name="lightpeer",
        restart_count=life - 1,
        container_id=f"test://{pod.metadata.uid}-{life}",
        state=ContainerState(running=ContainerStateRunning(started_at=since)),
        image="lightpeer",
        image_id="lightpeer",
    )
    address = address_of(pod.metadata.name).partition(":")[0]
    return PodStatus(phase="Running", pod_ip=address, container_statuses=(container,))


class _Klight(Scenario):
    """A network of five."""

    calm = CALM_SECONDS
    own = True

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"peers": PeerNetwork(self.own)}

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("klight")
        controllers(manager, Options(), PeerCalls(network_of(world)))
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.run(kubelet(network_of(world)))
        for name in NAMES:
            await world.create(pod(name, NET))
        await world.quiet()

    def always(self, world: ScenarioWorld) -> None:
        for each in network_of(world).serving:
            assert len(each.view) == len({*each.view}), f"{each.address} lists somebody twice"

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """Who came after whom, and through which member, may differ."""
        document["metadata"].get("annotations", {}).pop(JOINED_VIA, None)
        if document["kind"] == "LightNetwork":
            shown = document["status"]
            shown.pop("contact", None)
            shown["stack"] = sorted(shown.get("stack", ()))
            peers = [{**each, "joinedVia": ""} for each in shown.get("peers", ())]
            shown["peers"] = sorted(peers, key=lambda each: str(each["address"]))
        return document


def network_of(world: ScenarioWorld) -> PeerNetwork:
    found = world.remotes["peers"]
    assert isinstance(found, PeerNetwork)
    return found


class KlightJoin(_Klight):
    """Five peers of our own find each other."""


class KlightJoinOriginals(_Klight):
    """Five peers of another make, which cannot tell a second join, find each other."""

    own = False


class KlightLeave(_Klight):
    """One pod goes, another one loses its label."""

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        await world.delete(Pod, "p5")
        await world.quiet()
        await label(world, "p4", {})
        await world.quiet()


class KlightRestart(_Klight):
    """A peer and the controller are restarted."""

    # A pod that somebody makes anew has had one life only.
    modes = frozenset(FaultMode) - {FaultMode.PARENT_DELETED}

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        network, address = network_of(world), address_of("p3")
        pod = await world.client.get(Pod, "p3", "default")
        network.restart(address)
        since = timestamp(world.cluster.clock.now())
        await world.set_status(pod, running(pod, since, life=2))
        await world.quiet()
        await world.restart()
        await world.quiet()


class KlightRepair(_Klight):
    """A network that came apart is brought together when somebody asks.

    One request is one repair: that it was refused is told, and somebody has to ask again. Who
    deletes a LightNetwork deletes the request as well.
    """

    modes = frozenset(FaultMode) - {FaultMode.PARENT_DELETED}

    def remotes(self) -> Mapping[str, RemoteModel]:
        return {"peers": Obliging(self.own)}

    async def script(self, world: ScenarioWorld) -> None:
        await super().script(world)
        first, second = map(address_of, NAMES[:2])
        for each in network_of(world).serving:
            part = {first, second}
            inside = each.address in part
            each.view = [other for other in each.view if (other in part) == inside]
            each.contents = ["of two" if inside else "of three"]
        # Not quiet: who is restarted from an old list joins again, and so brings some together.
        await world.advance(SPLIT_SECONDS)
        asked = {"annotations": {REPAIR: "now"}}
        await world.edit(
            LightNetwork,
            object_name(NET),
            lambda it: replace(it, metadata=replace(it.metadata, **asked)),
        )
        await world.quiet()

    def normalise(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """How many were brought together depends on who was already."""
        found = super().normalise(document)
        if found is not None and found["kind"] == "LightNetwork":
            for each in found["status"].get("conditions", ()):
                each["message"] = ""
        return found


class KlightRepairOriginals(KlightRepair):
    """The same of another make."""

    own = False


class LightNetworkSpecs(SpecScenario, _Klight):
    """Everything that can be said of a LightNetwork."""

    without_effect: Mapping[str, str] = {
        "networkID": "it cannot be changed, and another one is another network",
        "repair": "it says what is done for a network that came apart",
    }

    subject = LightNetwork(
        metadata=named(object_name(NET)), spec=LightNetworkSpec(network_id=NET, repair="manual")
    )

    def hopeless(self, document: dict[str, Any]) -> bool:
        """While it is paused, whoever was joined before stays joined, and nobody else is."""
        return bool(document["spec"].get("paused", False))

    async def surroundings(self, world: ScenarioWorld) -> None:
        await world.run(kubelet(network_of(world)))
        for name in NAMES[:3]:
            await world.create(pod(name, NET))


class KlightOfThreeMembers(_Klight):
    """Two networks, perhaps of two members; one pod moves between them, another one leaves."""

    replicas = 3
    modes = (*MEMBER_MODES, *CRASHES, FaultMode.LOST)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("klight", shards=Shards(ranges=8))
        controllers(manager, Options(), PeerCalls(network_of(world)))
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.quiet()
        await world.run(kubelet(network_of(world)))
        for name, network in zip(NAMES, "aaabb", strict=True):
            await world.create(pod(name, network))
        await world.quiet()
        await label(world, "p3", {LABEL: "b"})
        await world.quiet()
        await label(world, "p2", {})
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        views = {each.address: {*each.view} for each in network_of(world).serving}
        second = {*map(address_of, ("p3", "p4", "p5"))}
        for each in second:
            assert views[each] == second, f"{each} sees {views[each]}"


async def label(world: ScenarioWorld, name: str, labels: dict[str, str]) -> None:
    """Give a pod these labels, and no others."""
    await world.edit(
        Pod, name, lambda it: replace(it, metadata=replace(it.metadata, labels=labels))
    )
