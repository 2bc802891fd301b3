from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quintant.runtime.webhook.authority import IssuedCertificate, issue_certificate
from quintant.runtime.webhook.certificate_rotation import (
    OVERLAP,
    CertificateRotation,
    RotationPhase,
    next_rotation,
)
from unit.runtime.webhook.kinds import authorities

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_ring_rests_until_two_thirds_of_its_life() -> None:
    ring = CertificateRotation(issue_certificate(["a"], NOW))
    assert next_rotation(ring, NOW + 60 * DAY - timedelta(seconds=1), _unwanted) is ring


def test_the_next_certificate_is_trusted_before_it_is_shown() -> None:
    first, second = issue_certificate(["a"], NOW), issue_certificate(["a"], NOW + 60 * DAY)
    staged = next_rotation(CertificateRotation(first), NOW + 60 * DAY, lambda: second)
    assert staged == CertificateRotation(first, second)
    assert staged.phase is RotationPhase.STAGED
    assert staged.bundle == first.authority + second.authority

    early = NOW + 60 * DAY + OVERLAP - timedelta(seconds=1)
    assert next_rotation(staged, early, _unwanted) is staged

    shown = next_rotation(staged, NOW + 60 * DAY + OVERLAP, _unwanted)
    assert shown == CertificateRotation(second, first)
    assert shown.phase is RotationPhase.STEADY
    assert shown.bundle == staged.bundle


def test_the_last_but_one_authority_is_forgotten_at_the_next_change() -> None:
    first, second, third = (issue_certificate(["a"], NOW + n * 60 * DAY) for n in range(3))
    ring = next_rotation(CertificateRotation(second, first), NOW + 120 * DAY, lambda: third)
    assert authorities(ring.bundle) == [second.authority, third.authority]


def test_a_certificate_that_ran_out_unnoticed_is_replaced_at_once() -> None:
    first, second = issue_certificate(["a"], NOW), issue_certificate(["a"], NOW + 100 * DAY)
    ring = next_rotation(CertificateRotation(first), NOW + 100 * DAY, lambda: second)
    assert ring == CertificateRotation(second)


def test_a_successor_that_waited_through_a_stop_is_shown_before_another_is_made() -> None:
    first, second = issue_certificate(["a"], NOW), issue_certificate(["a"], NOW + 60 * DAY)
    ring = next_rotation(CertificateRotation(first, second), NOW + 95 * DAY, _unwanted)
    assert ring == CertificateRotation(second, first)


def _unwanted() -> IssuedCertificate:
    raise AssertionError("no certificate is due")
