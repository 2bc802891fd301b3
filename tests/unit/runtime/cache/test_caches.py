"""Promises of quintant.runtime.cache.caches."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from quintant.client.rest import Rest
from quintant.core import codec
from quintant.core.clock import Random
from quintant.core.errors import ConfigError, NotWatched
from quintant.core.object import Metadata, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.caches import Caches
from quintant.runtime.observe.metrics import Metrics
from unit.runtime.kinds import Chart, ChartView, Ship, chart, meta, ship
from unit.runtime.scripted_transport import ScriptedTransport

A = Request("a", "sea")


@pytest.fixture
async def caches() -> Caches:
    return Caches(Rest(ScriptedTransport()), Random())


async def test_an_informer_is_shared_by_all_who_ask_for_the_same(caches: Caches) -> None:
    first = caches.declare(Ship, labels={"a": "1", "b": "2"})

    assert caches.declare(Ship, labels={"b": "2", "a": "1"}) is first
    assert caches.declare(Ship) is not first
    assert caches.declare(Ship, labels={}) is caches.declare(Ship)
    assert len(list(caches)) == 2


async def test_a_cached_read_finds_the_informer_of_its_kind(caches: Caches) -> None:
    selected = caches.declare(Ship, labels={"a": "1"})
    assert caches.informer_for(Ship) is selected

    whole = caches.declare(Ship)
    assert caches.informer_for(Ship) is whole


async def test_a_kind_nobody_declared_is_not_watched(caches: Caches) -> None:
    caches.declare(Chart)

    with pytest.raises(NotWatched, match=r"\.watches\(Ship\)"):
        caches.informer_for(Ship)
    with pytest.raises(NotWatched, match=r"no cache holds Metadata\[Chart\]"):
        caches.informer_for(Metadata[Chart])


async def test_a_read_between_selections_is_ambiguous(caches: Caches) -> None:
    caches.declare(Ship, labels={"a": "1"})
    caches.declare(Ship, fields={"spec.port": "x"})

    with pytest.raises(ConfigError, match="a cached read of Ship is ambiguous"):
        caches.informer_for(Ship)


async def test_an_object_is_seen_in_whichever_selection_has_it(caches: Caches) -> None:
    caches.declare(Ship, labels={"a": "1"})
    caches.declare(Ship, labels={"b": "2"})
    obj = ship("a", "5", labels={"b": "2"})

    caches.record_write(obj, codec.encode_object(obj))

    assert caches.find_anywhere(Ship, A) == obj
    assert caches.find_anywhere(Ship, Request("b", "sea")) is None
    assert caches.find_anywhere(Chart, A) is None


async def test_a_write_is_visible_in_every_projection(caches: Caches) -> None:
    whole, view, bare = (caches.declare(kind) for kind in (Chart, ChartView, Metadata[Chart]))
    obj = chart("a", "5", data={"x": "y"})

    caches.record_write(obj, codec.encode_object(obj))

    assert whole.store.get(A) is obj
    assert view.store.get(A) == ChartView(metadata=meta("a", "5"))
    found = bare.store.get(A)
    assert found is not None
    assert found.metadata.resource_version == "5"


async def test_a_write_not_decoded_yet_is_visible_where_it_fits(caches: Caches) -> None:
    ships, bare = caches.declare(Ship), caches.declare(Metadata[Ship])
    document = b"""{"metadata":{"name":"a","namespace":"sea","resourceVersion":"5"},
      "spec":{"crew":"many"}}"""

    caches.record_raw_write(resource_of(Ship), document)
    caches.record_write(ship("b", "6"), document)

    assert ships.store.get(A) is None
    assert bare.store.get(A) is not None
    assert ships.store.get(Request("b", "sea")) is not None


async def test_a_deletion_is_visible_in_every_projection(caches: Caches) -> None:
    whole, view = caches.declare(Chart), caches.declare(ChartView)
    obj = chart("a", "5")
    caches.record_write(obj, codec.encode_object(obj))

    caches.record_delete(resource_of(Chart), obj.metadata)

    assert len(whole.store) == len(view.store) == 0


async def test_watching_a_kind_in_two_projections_is_said(caches: Caches) -> None:
    with capture_logs() as lines:
        caches.declare(Chart)
        caches.declare(Chart, labels={"a": "1"})
        assert lines == []
        caches.declare(ChartView)
        caches.declare(ChartView, labels={"a": "1"})
        caches.declare(Chart, labels={"a": "2"})

    assert [line["event"] for line in lines] == ["watching a kind twice"]
    assert lines[0]["views"] == ["Chart", "ChartView"]


async def test_projections_that_hold_different_objects_are_no_reason_to_warn(
    caches: Caches,
) -> None:
    with capture_logs() as lines:
        caches.declare(Chart, fields={"type": "a"})
        caches.declare(ChartView, fields={"type": "b"})
    assert lines == []


async def test_whoever_declares_the_same_shares_one_informer_without_a_word(caches: Caches) -> None:
    whole, bare = caches.declare(Chart), caches.declare(Metadata[Chart])
    with capture_logs() as lines:
        assert caches.declare(Chart, labels={}, fields={}) is whole
        assert caches.declare(Metadata[Chart]) is bare

    assert list(caches) == [whole, bare]
    assert lines == []


async def test_every_informer_is_known_to_the_metrics() -> None:
    metrics = Metrics()
    caches = Caches(Rest(ScriptedTransport()), Random(), namespaces=["sea"], metrics=metrics)
    informer = caches.declare(Ship)
    informer.record_write(ship("a", "5"))

    informer.get(A)

    assert [reflector.scope.namespace for reflector in informer.reflectors] == ["sea"]
    shown = metrics.render().decode()
    assert 'quintant_cache_objects{kind="ships.sea.quintant.dev"} 1.0' in shown
    assert "quintant_overlay_hits_total 1.0" in shown


async def test_a_kind_is_followed_once_for_each_set_of_namespaces(caches: Caches) -> None:
    north = caches.declare(Ship, namespaces=["north"])

    assert caches.declare(Ship, namespaces=["north"]) is north
    assert caches.declare(Ship, namespaces=["south"]) is not north
    assert north.namespaces == ("north",)


async def test_a_cached_read_finds_the_informer_of_its_namespace(caches: Caches) -> None:
    north, south = (caches.declare(Ship, namespaces=[name]) for name in ("north", "south"))

    assert caches.informer_for(Ship, "north") is north
    assert caches.informer_for(Ship, "south") is south
    with pytest.raises(NotWatched, match="in namespace west"):
        caches.informer_for(Ship, "west")
    assert caches.informers_for(Ship) == [north, south]
    with pytest.raises(ConfigError, match="in all namespaces is ambiguous"):
        caches.informer_for(Ship)


async def test_a_read_of_all_namespaces_is_served_by_who_follows_them_all(caches: Caches) -> None:
    caches.declare(Ship, namespaces=["north"])
    caches.declare(Ship, labels={"a": "1"})
    everything = caches.declare(Ship)

    assert caches.informer_for(Ship) is everything


async def test_what_is_deleted_elsewhere_leaves_no_trace(caches: Caches) -> None:
    north = caches.declare(Ship, namespaces=["north"])
    caches.record_delete(resource_of(Ship), meta("a", "5", namespace="south"))

    assert Request("a", "south") not in north.overlay
