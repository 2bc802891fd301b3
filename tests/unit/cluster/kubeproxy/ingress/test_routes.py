"""Which Service a request is for."""

from __future__ import annotations

import pytest

from quintant.api.meta import ObjectMeta
from quintant.cluster.kubeproxy.ingress.routes import RouteTable, ingress_rules
from quintant.cluster.kubeproxy.ingress.views import (
    HTTPIngressPath,
    HTTPIngressRuleValue,
    Ingress,
    IngressBackend,
    IngressRule,
    IngressServiceBackend,
    IngressSpec,
    ServiceBackendPort,
)


def backend(name: str) -> IngressBackend:
    return IngressBackend(
        service=IngressServiceBackend(name=name, port=ServiceBackendPort(number=80))
    )


def rule(host: str, *paths: tuple[str, str, str]) -> IngressRule:
    found = (
        HTTPIngressPath(path=path, path_type=sort, backend=backend(name))
        for path, sort, name in paths
    )
    return IngressRule(host=host, http=HTTPIngressRuleValue(paths=tuple(found)))


def ingress(*rules: IngressRule, name: str = "a", created: str = "", default: str = "") -> Ingress:
    return Ingress(
        metadata=ObjectMeta(name=name, namespace="ns", creation_timestamp=created),
        spec=IngressSpec(rules=rules, default_backend=backend(default) if default else None),
    )


def reached(host: str, path: str, *ingresses: Ingress) -> str:
    found = RouteTable(map(ingress_rules, ingresses)).match(host, path)
    return "" if found is None or found.backend is None else found.backend.service


@pytest.mark.parametrize(
    ("sort", "path", "asked_for", "matches"),
    [
        ("Prefix", "/", "/anything", True),
        ("Exact", "/foo", "/foo", True),
        ("Exact", "/foo", "/bar", False),
        ("Exact", "/foo", "/foo/", False),
        ("Exact", "/foo/", "/foo", False),
        ("Prefix", "/foo", "/foo", True),
        ("Prefix", "/foo", "/foo/", True),
        ("Prefix", "/foo/", "/foo", True),
        ("Prefix", "/foo/", "/foo/", True),
        ("Prefix", "/aaa/bb", "/aaa/bbb", False),
        ("Prefix", "/aaa/bbb", "/aaa/bbb", True),
        ("Prefix", "/aaa/bbb/", "/aaa/bbb", True),
        ("Prefix", "/aaa/bbb", "/aaa/bbb/", True),
        ("Prefix", "/aaa/bbb", "/aaa/bbb/ccc", True),
        ("Prefix", "/aaa/bbb", "/aaa/bbbxyz", False),
        ("ImplementationSpecific", "/foo", "/foo/bar", True),
        ("ImplementationSpecific", "/foo", "/foobar", False),
    ],
)
def test_paths_match_as_the_specification_says(
    sort: str, path: str, asked_for: str, matches: bool
) -> None:
    found = reached("h.io", asked_for, ingress(rule("h.io", (path, sort, "web"))))
    assert found == ("web" if matches else "")


def test_the_longest_path_comes_first_and_exact_before_prefix() -> None:
    paths = (
        ("/", "Prefix", "root"),
        ("/a", "Prefix", "prefix"),
        ("/a", "Exact", "exact"),
        ("/a/b", "Prefix", "longer"),
    )
    given = ingress(rule("h.io", *paths))
    found = {path: reached("h.io", path, given) for path in ("/x", "/a", "/a/x", "/a/b/c")}
    assert found == {"/x": "root", "/a": "exact", "/a/x": "prefix", "/a/b/c": "longer"}


@pytest.mark.parametrize(
    ("host", "service"),
    [
        ("bar.foo.com", "exact"),
        ("other.foo.com", "wild"),
        ("baz.bar.foo.com", "any"),
        ("foo.com", "any"),
        ("1.2.3.4", "any"),
    ],
)
def test_a_wildcard_covers_one_label_and_an_exact_host_comes_first(host: str, service: str) -> None:
    given = ingress(
        rule("", ("/", "Prefix", "any")),
        rule("*.foo.com", ("/", "Prefix", "wild")),
        rule("bar.foo.com", ("/", "Prefix", "exact")),
    )
    assert reached(host, "/", given) == service


def test_a_rule_without_a_host_is_about_every_host() -> None:
    given = ingress(rule("h.io", ("/a", "Exact", "one")), rule("", ("/b", "Exact", "two")))
    assert reached("h.io", "/b", given) == "two"


def test_the_default_backend_gets_what_no_rule_is_about() -> None:
    given = ingress(rule("h.io", ("/a", "Exact", "one")), default="rest")
    assert reached("h.io", "/x", given) == "rest"
    assert reached("elsewhere.io", "/a", given) == "rest"
    assert reached("h.io", "/a", given) == "one"


def test_of_two_ingresses_with_the_same_path_the_older_has_it() -> None:
    old = ingress(rule("h.io", ("/", "Prefix", "old")), name="z", created="2026-01-01T00:00:00Z")
    new = ingress(rule("h.io", ("/", "Prefix", "new")), name="a", created="2026-01-02T00:00:00Z")
    assert reached("h.io", "/", new, old) == "old"
    assert reached("h.io", "/", old, new) == "old"
