from __future__ import annotations

import pytest

from quintant.cluster.apiserver.discovery.healthz import CHECKS, is_probe, probe
from quintant.cluster.apiserver.meta.status import PageNotFound


@pytest.mark.parametrize("endpoint", CHECKS)
def test_a_server_that_answers_is_well(endpoint: str) -> None:
    assert probe(f"/{endpoint}", {}).body == b"ok"
    for check in CHECKS[endpoint]:
        assert probe(f"/{endpoint}/{check}", {}).body == b"ok"


@pytest.mark.parametrize("path", ["/readyz/nope", "/healthz/", "/livez/ping/"])
def test_a_check_that_there_is_not_is_no_page(path: str) -> None:
    with pytest.raises(PageNotFound):
        probe(path, {})


def test_verbose_lists_every_check() -> None:
    assert probe("/livez", {"verbose": ""}).body.decode() == (
        "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n"
    )


def test_a_check_can_be_left_out_if_it_is_there() -> None:
    lines = probe("/livez", {"verbose": "1", "exclude": "etcd"}).body.decode().splitlines()
    assert "[+]etcd excluded: ok" in lines
    lines = probe("/livez", {"verbose": "1", "exclude": "x"}).body.decode().splitlines()
    assert 'warn: some health checks cannot be excluded: no matches for "x"' in lines


def test_other_paths_are_no_probes() -> None:
    assert is_probe("/readyz/ping")
    assert not is_probe("/readyzz")
    assert not is_probe("/")
