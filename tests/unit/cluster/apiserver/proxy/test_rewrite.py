"""Links of a response, and the same behind the proxy."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.proxy.rewrite import LinkRewriter, link_rewriter

ROOT = "/api/v1/namespaces/default/pods/web/proxy"
LINKS = LinkRewriter(ROOT, "10.1.2.3:80", "localhost:8001")


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("/", f"{ROOT}/"),
        ("/a/b/?x=1#y", f"{ROOT}/a/b/?x=1#y"),
        ("/a%2Fb", f"{ROOT}/a%2Fb"),
        (f"{ROOT}/there", f"{ROOT}/there"),
        ("http://10.1.2.3:80/a", f"{ROOT}/a"),
        ("https://localhost:8001/a", f"https://localhost:8001{ROOT}/a"),
        ("https://example.com/a", "https://example.com/a"),
        ("//example.com/a", "//example.com/a"),
        ("a/b", "a/b"),
        ("?x", "?x"),
        ("", ""),
        ("mailto:a@example.com", "mailto:a@example.com"),
    ],
)
def test_links_within_the_pod_lead_through_the_proxy(link: str, expected: str) -> None:
    assert LINKS.rewrite(link) == expected


def test_a_link_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ValueError, match="Invalid IPv6"):
        LINKS.rewrite("http://[x/")


@pytest.mark.parametrize(
    ("path", "location", "prepend"),
    [
        (f"{ROOT}/a", "/a", ROOT),
        (f"{ROOT}/a/", "/a", ROOT),
        (f"{ROOT}/", "/", ROOT),
        (f"{ROOT}/a/../b", "/b", f"{ROOT}/a/.."),
    ],
)
def test_what_is_put_before_links_is_the_path_without_the_pods(
    path: str, location: str, prepend: str
) -> None:
    made = link_rewriter(path, location, "10.1.2.3:80", "h")
    assert made == LinkRewriter(prepend, "10.1.2.3:80", "h")


def test_a_pod_reads_under_which_path_it_is_reached() -> None:
    assert LINKS.forwarded_uri("/a b/") == f"{ROOT}/a%20b/"
    assert LINKS.forwarded_uri("/") == f"{ROOT}/"
