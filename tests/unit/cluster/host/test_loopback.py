"""Every cluster of a machine has addresses of its own, for as long as it lives."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from itertools import combinations

import pytest

from quintant.cluster.host.loopback import (
    CLUSTERS,
    CROWDED,
    FIRST,
    SHARES,
    claim_share,
    is_service_ip,
)

HOLDER = """
import sys
from quintant.cluster.host.loopback import claim_share
with claim_share(sys.argv[1]) as share:
    print(share.api, flush=True)
    sys.stdin.read()
"""


def test_the_first_cluster_has_the_addresses_of_the_documents() -> None:
    assert (FIRST.host, str(FIRST.pods), str(FIRST.services), FIRST.api) == (
        *("127.0.0.1", "127.42.0.0/16", "127.96.0.0/16", "127.96.0.1"),
    )


def test_no_two_shares_overlap() -> None:
    networks = [network for share in SHARES for network in (share.pods, share.services)]
    assert not any(one.overlaps(two) for one, two in combinations(networks, 2))
    assert len({share.host for share in SHARES}) == CLUSTERS


def test_five_clusters_have_five_shares() -> None:
    with ExitStack() as stack:
        shares = [stack.enter_context(claim_share()) for _ in range(5)]
        assert len({share.services for share in shares}) == 5


def test_a_cluster_that_comes_back_gets_its_share_if_nobody_has_it() -> None:
    last = SHARES[-1]
    with claim_share(str(last.services[77])) as mine, claim_share(last.api) as other:
        assert mine is last
        assert other is not last


def test_a_share_is_given_back_whatever_happens() -> None:
    last = SHARES[-1]
    with pytest.raises(OSError, match="mine"), claim_share(last.api):
        raise OSError("mine")
    with claim_share(last.api) as again:
        assert again is last


def test_a_share_of_a_killed_process_is_free() -> None:
    wanted = SHARES[-2]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, wanted.api],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == wanted.api
        with claim_share(wanted.api) as other:
            assert other is not wanted
        holder.kill()
        holder.wait()
    with claim_share(wanted.api) as now:
        assert now is wanted


def test_where_no_share_is_left_pods_have_the_address_of_the_machine() -> None:
    with ExitStack() as stack:
        shares = [stack.enter_context(claim_share()) for _ in range(CLUSTERS + 1)]
        assert shares[-1] is CROWDED


@pytest.mark.parametrize("address", ["", "None", "::1", "127.97.0.1"])
def test_only_addresses_of_its_services_are_of_a_share(address: str) -> None:
    assert not is_service_ip(FIRST, address)
