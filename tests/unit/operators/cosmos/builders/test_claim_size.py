"""Claims are as large as asked for, and left alone where their volumes are large enough."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.volume import PersistentVolumeClaim, PersistentVolumeClaimStatus
from quintant.core.object import replace
from quintant.operators.cosmos.builders.claim_size import grown, increased, quantity_of
from quintant.operators.cosmos.builders.instances import MARK
from quintant.operators.cosmos.builders.pvc_builder import build_claim
from quintant.runtime.apply import revision
from unit.operators.cosmos.full_nodes import bound_claim, full_node, instance

GI = 2**30


def asked(existing: PersistentVolumeClaim | None = None, **given: Any) -> str:
    of = full_node(**given)
    claim = build_claim(of, instance(of), existing)
    assert claim is not None
    return str(claim.spec.resources.requests["storage"])


def healing(size: str, most: str | None = None) -> dict[str, Any]:
    entry = {"requestedSize": size, "requestedAt": "2026-01-01T00:00:00Z"}
    scale = {"usedSpacePercentage": 80, "increaseQuantity": "20Gi"}
    return {
        "status": {"selfHealing": {"pvcAutoScaler": {"pvc-hub-0": entry}}},
        "selfHeal": {"pvcAutoScale": scale | ({"maxSize": most} if most else {})},
    }


def test_a_claim_never_asks_for_less_than_it_has() -> None:
    assert asked(bound_claim("250Gi")) == "250Gi"
    assert asked(bound_claim("50Gi")) == "100Gi"
    assert asked(bound_claim("50Gi", request="250Gi")) == "250Gi"  # it is on its way there


@pytest.mark.parametrize("requested", ["10Gi", "80Gi", "100Gi", "102400Mi"])
def test_a_claim_on_a_volume_that_is_large_enough_is_left_as_it_is(requested: str) -> None:
    """A volume that was there before its claim cannot grow, and need not."""
    of = full_node()
    existing = bound_claim("500Gi", request=requested)
    claim = build_claim(of, instance(of), existing)
    assert claim is not None
    kept = parse_quantity(claim.spec.resources.requests["storage"])
    assert kept == parse_quantity(requested)
    assert parse_quantity(asked(existing, **healing("300Gi"))) == kept
    assert parse_quantity(asked(existing, **healing("500Gi"))) > 500 * GI


def test_a_claim_that_is_not_bound_yet_or_goes_is_no_volume() -> None:
    waiting = replace(bound_claim("500Gi", request="10Gi"), status=PersistentVolumeClaimStatus())
    assert asked(waiting) == "100Gi"


def test_what_a_claim_asked_for_at_first_is_its_revision_however_large_its_volume_is() -> None:
    of = full_node()
    first = build_claim(of, instance(of), None)
    later = build_claim(of, instance(of), bound_claim("500Gi", request="100Gi"))
    assert first is not None
    assert later is not None
    assert revision(first, MARK) == revision(later, MARK)


def test_what_healing_asks_for_is_a_little_more_and_never_above_the_most() -> None:
    grown = asked(bound_claim("100Gi"), **healing("120Gi"))
    assert parse_quantity(grown) == -(-120 * GI * 102 // 100)
    assert asked(bound_claim("100Gi"), **healing("120Gi", "121Gi")) == "121Gi"


@pytest.mark.parametrize(
    ("increase", "size"),
    [
        ("20Gi", "120Gi"),
        ("10%", "110Gi"),
        ("0.5Gi", "102912Mi"),
        ("200%", "300Gi"),
        ("1", "107374182401"),
    ],
)
def test_a_volume_grows_by_a_part_or_an_amount(increase: str, size: str) -> None:
    assert quantity_of(increased(Decimal(100 * GI), increase)) == size


def test_a_size_beyond_what_can_be_counted_is_bounded() -> None:
    assert grown(Quantity("1e999999999"), Quantity("1Ti")) == 2**40
    assert quantity_of(increased(Decimal(2**40), "1e999999999")) == str(2**63 - 1)
