"""Promises of quintant.cluster.apiserver.discovery.aggregated."""

from __future__ import annotations

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.discovery.aggregated import NOT_MODIFIED, aggregated
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.registry.builtin import builtin_kinds

PODS = b'"resource":"pods"'


def test_who_has_the_document_is_told_so_until_the_kinds_change() -> None:
    catalog = Catalog(builtin_kinds())
    first = aggregated(catalog, "api", ApiRequest("GET", "/api"))
    again = ApiRequest("GET", "/api", headers={"if-none-match": first.headers["etag"]})
    assert PODS in first.body
    assert aggregated(catalog, "api", again).status == NOT_MODIFIED

    catalog.remove("", "pods")
    changed = aggregated(catalog, "api", again)
    assert changed.status == 200
    assert PODS not in changed.body

    catalog.add(builtin_kinds())
    assert aggregated(catalog, "api", again).body != changed.body


def test_the_core_group_and_the_others_have_a_document_each() -> None:
    catalog = Catalog(builtin_kinds())

    assert PODS not in aggregated(catalog, "apis", ApiRequest("GET", "/apis")).body
    assert (
        b'"resource":"deployments"' in aggregated(catalog, "apis", ApiRequest("GET", "/apis")).body
    )
    assert (
        b'"resource":"deployments"'
        not in aggregated(catalog, "api", ApiRequest("GET", "/api")).body
    )
