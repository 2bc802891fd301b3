"""Promises of quintant.core.resource."""

from __future__ import annotations

import pytest

from quintant.core.errors import BadRequest, ConfigError
from quintant.core.object import Custom, Metadata, Model, Object
from quintant.core.resource import (
    Column,
    Resource,
    definition_of,
    resource,
    resource_of,
)
from unit.runtime.kinds import Chart, ChartView, Ocean, Ship


@pytest.mark.parametrize(
    ("of", "args", "path"),
    [
        (Ship, (), "/apis/sea.quintant.dev/v1/ships"),
        (Ship, ("sea",), "/apis/sea.quintant.dev/v1/namespaces/sea/ships"),
        (Ship, ("sea", "a"), "/apis/sea.quintant.dev/v1/namespaces/sea/ships/a"),
        (Ship, ("sea", "a", "status"), "/apis/sea.quintant.dev/v1/namespaces/sea/ships/a/status"),
        (Chart, ("sea", "a"), "/api/v1/namespaces/sea/charts/a"),
        (Chart, ("", "a"), "/api/v1/charts/a"),
        (Ocean, ("ignored", "a"), "/apis/sea.quintant.dev/v1/oceans/a"),
        (Chart, ("sea", "system:a_b.c-d"), "/api/v1/namespaces/sea/charts/system:a_b.c-d"),
    ],
)
def test_paths_are_those_of_the_api(of: type[Object], args: tuple[str, ...], path: str) -> None:
    assert resource_of(of).path(*args) == path


@pytest.mark.parametrize(
    "name", ["..", ".", "../secrets/x", "a/b", "a?watch=1", "a#b", "a%2fb", "a b", "a\n", "é"]
)
def test_a_name_never_leads_to_another_path(name: str) -> None:
    with pytest.raises(BadRequest, match="cannot be the name or namespace of a Chart"):
        resource_of(Chart).path("sea", name)
    with pytest.raises(BadRequest):
        resource_of(Chart).path(name, "a")


def test_versions_and_full_names_are_spelled_as_in_the_api() -> None:
    assert (resource_of(Chart).api_version, resource_of(Chart).full_name) == ("v1", "charts")
    assert resource_of(Ship).api_version == "sea.quintant.dev/v1"
    assert resource_of(Ship).full_name == "ships.sea.quintant.dev"


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Ingress", "ingresses"),
        ("Proxy", "proxies"),
        ("Gateway", "gateways"),
        ("Box", "boxes"),
        ("Switch", "switches"),
        ("Mesh", "meshes"),
        ("Pod", "pods"),
        ("Y", "ys"),
    ],
)
def test_plurals_follow_english(kind: str, plural: str) -> None:
    decorated = resource(group="g", version="v1", kind=kind)(type("Any", (Object,), {}))

    assert resource_of(decorated) == Resource("g", "v1", kind, plural)


def test_a_projection_has_the_identity_of_the_kind_it_views() -> None:
    assert resource_of(ChartView) == resource_of(Chart)


def test_metadata_of_a_kind_is_that_kind_and_nothing_but_metadata() -> None:
    found = resource_of(Metadata[Chart])

    assert found.metadata_only
    assert found.path() == resource_of(Chart).path()


def test_metadata_alone_says_what_to_write_instead() -> None:
    with pytest.raises(ConfigError, match=r"Pod\(metadata=\.\.\.\)"):
        resource_of(Metadata)


def test_a_class_without_identity_says_how_to_get_one() -> None:
    class Unknown(Object):
        pass

    class Child(Ship):
        """A subclass is another kind: it has to say where it lives."""

    for kind in (Unknown, Child):
        with pytest.raises(ConfigError, match=r"decorate it with @resource\(\.\.\.\)"):
            resource_of(kind)


def test_only_custom_kinds_have_a_definition() -> None:
    assert definition_of(Ship).singular == "ship"
    with pytest.raises(ConfigError, match="Chart has no CustomResourceDefinition"):
        definition_of(Chart)


def test_columns_may_be_bare_paths() -> None:
    @resource(group="g.dev", version="v1", columns={"A": ".spec.a", "B": Column(".spec.b", "date")})
    class Printed(Custom[Model, Model]):
        pass

    assert definition_of(Printed).columns == {
        "A": Column(".spec.a"),
        "B": Column(".spec.b", "date"),
    }
