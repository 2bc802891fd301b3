"""Templates that a status cannot hold are kept in a Secret that it names."""

from __future__ import annotations

import gzip

from quintant.core import codec
from quintant.core.object import Opaque
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.builders import (
    STATUS_BYTES,
    TEMPLATE_BYTES,
    TEMPLATE_KEY,
    unpacked_template,
)
from quintant.operators.infra.plan.kept_template import template_secret, with_template_ref
from quintant.operators.infra.plan.status import StatusChange

CLUSTER = codec.decode(
    Cluster,
    codec.encode({"metadata": {"name": "one", "namespace": "default", "uid": "u-1"}, "spec": {}}),
)
LARGE = StatusChange({"last_applied_tosca": Opaque(b'{"a": "%s"}' % (b"x" * STATUS_BYTES))})
SMALL = StatusChange({"last_applied_tosca": Opaque(b'{"a": 1}')})


def test_change_without_a_template_stays_as_it_is() -> None:
    change = StatusChange({"cluster_id": "inf-1"})
    assert template_secret(CLUSTER, change) is None
    assert with_template_ref(change, None, saved=False) == change


def test_small_template_stays_in_the_status_and_no_secret_is_named() -> None:
    assert template_secret(CLUSTER, SMALL) is None
    changed = with_template_ref(SMALL, None, saved=False)
    assert changed.fields == {**SMALL.fields, "last_applied_ref": None}


def test_large_template_goes_into_a_secret_that_the_status_names() -> None:
    secret = template_secret(CLUSTER, LARGE)
    assert secret is not None
    changed = with_template_ref(LARGE, secret, saved=True)
    assert changed.fields["last_applied_tosca"] is None
    assert changed.fields["last_applied_ref"].name == secret.metadata.name


def test_large_template_whose_secret_is_taken_is_not_kept() -> None:
    secret = template_secret(CLUSTER, LARGE)
    changed = with_template_ref(LARGE, secret, saved=False)
    assert changed.fields == {"last_applied_tosca": None, "last_applied_ref": None}


def test_what_was_kept_comes_back_and_nothing_else_does() -> None:
    secret = template_secret(CLUSTER, LARGE)
    assert secret is not None
    kept = unpacked_template(secret.reveal(TEMPLATE_KEY))
    assert kept == LARGE.fields["last_applied_tosca"]
    for plain in (b"7", b"{", b"\xff", b"[" * 5_000, b"{}" + b" " * 2 * TEMPLATE_BYTES):
        assert unpacked_template(gzip.compress(plain)) is None
    assert unpacked_template(gzip.compress(b"{}")[:-9]) is None
    assert unpacked_template(b"no gzip") is None
