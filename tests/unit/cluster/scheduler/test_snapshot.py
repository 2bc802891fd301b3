"""The snapshot, kept up to date step by step, is the snapshot that is made anew."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.cluster.common.views import NodeView, PodView
from quintant.cluster.scheduler.resources import resource_request
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.core import codec
from quintant.core.object import replace
from unit.cluster.scheduler.samples import node, pod, snapshot

WEB = {"app": "web"}

placements = st.dictionaries(
    st.sampled_from("pqrs"),
    st.tuples(
        st.sampled_from(["", "a", "b", "c"]),
        st.sampled_from(["100m", "1"]),
        st.sampled_from([{}, WEB]),
        st.booleans(),
    ),
)
worlds = st.tuples(placements, st.sets(st.sampled_from("abc")))
WORLD = tuple[dict[str, tuple[str, str, dict[str, str], bool]], set[str]]


def pods_of(world: WORLD) -> list[PodView]:
    made = []
    for name, (on, cpu, labels, ended) in world[0].items():
        one = pod(name, on=on, cpu=cpu, labels=labels)
        made.append(replace(one, status=replace(one.status, phase="Failed" if ended else "")))
    return made


def nodes_of(world: WORLD) -> list[NodeView]:
    return [node(name) for name in sorted(world[1])]


def possible(history: list[WORLD]) -> list[WORLD]:
    """The history, but for pods that lose their node: what was bound stays bound."""
    made: list[WORLD] = []
    for pods, nodes in history:
        before = {name: was[0] for name, was in made[-1][0].items()} if made else {}
        kept = {name: (each[0] or before.get(name, ""), *each[1:]) for name, each in pods.items()}
        made.append((kept, nodes))
    return made


def figures(given: NodeSnapshot) -> dict[str, tuple[object, ...]]:
    return {
        info.name: (info.used_cpu, info.weight_cpu, info.weight_memory, sorted(info.placed_pods))
        for info in given.infos.values()
        if info.node is not None
    }


@given(st.lists(worlds, min_size=1, max_size=6).map(possible))
@settings(max_examples=50)
def test_snapshot_after_any_history_is_that_of_its_last_state(history: list[WORLD]) -> None:
    grown = NodeSnapshot()
    probe = pod("probe", labels=WEB)
    spread = codec.from_plain(
        PodView,
        {
            **codec.to_plain(probe),
            "spec": {
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "kubernetes.io/hostname",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": WEB},
                    }
                ]
            },
        },
    )
    selector = spread.spec.topology_spread_constraints[0].label_selector
    grown.spread_counter(spread, selector)  # counted from the first step on
    for world in history:
        grown.sync(nodes_of(world), pods_of(world))
    fresh = NodeSnapshot()
    fresh.sync(nodes_of(history[-1]), pods_of(history[-1]))
    assert figures(grown) == figures(fresh)
    assert (
        grown.spread_counter(spread, selector).nodes == fresh.spread_counter(spread, selector).nodes
    )


def test_assumed_pod_counts_until_the_watch_shows_it() -> None:
    one = pod("p", cpu="1")
    held = snapshot(node("a"), pods=(one,))
    held.assume(one, resource_request(one), "a")
    held.sync([node("a")], [one])
    assert held.infos["a"].used_cpu == 1000
    held.sync([node("a")], [pod("p", on="a", cpu="1")])
    assert held.infos["a"].used_cpu == 1000


def test_assumed_pod_that_vanishes_gives_its_place_back() -> None:
    one = pod("p", cpu="1")
    held = snapshot(node("a"), pods=(one,))
    held.assume(one, resource_request(one), "a")
    before = held.move_cycle
    held.sync([node("a")], [])
    assert held.infos["a"].used_cpu == 0
    assert held.move_cycle > before


def test_heartbeat_of_a_node_changes_nothing() -> None:
    held = snapshot(node("a"))
    before = (held.generation, held.move_cycle)
    held.sync([node("a")], [])
    assert (held.generation, held.move_cycle) == before
