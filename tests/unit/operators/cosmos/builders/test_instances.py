"""Names and labels are those of the original, and lead to the children."""

from __future__ import annotations

import pytest

from quintant.operators.cosmos.builders.instances import (
    MARK,
    image_version,
    instances,
    labels,
    metadata,
    to_dns_label,
    to_label_key,
    to_name,
    trim_middle,
)
from unit.operators.cosmos.full_nodes import full_node


@pytest.mark.parametrize(
    ("text", "name"), [("HUB!@+=_.0", "HUB.0"), ("#..abc2-_@!", "abc2"), ("a" * 300, "a" * 253)]
)
def test_a_text_becomes_a_name(text: str, name: str) -> None:
    assert to_name(text) == name


def test_a_text_becomes_the_key_of_a_label() -> None:
    assert to_label_key("HUB!@+=_.0") == "HUB_.0"


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    assert trim_middle("abcdefg", 5) == "abefg"
    assert trim_middle("abcdefg", 4) == "abfg"
    assert trim_middle("abc", 3) == "abc"


def test_a_long_name_keeps_its_ordinal_everywhere() -> None:
    long = full_node("x" * 253, ordinals={"start": 7})
    for each in instances(long):
        assert len(each.name) <= 253
        assert each.name.endswith(f"-{each.ordinal}")
        assert len(each.claim) <= 253
    assert len(to_dns_label(f"{'x' * 253}-p2p-9")) == 63
    assert to_dns_label(f"{'x' * 253}-p2p-9").endswith("-p2p-9")
    assert to_dns_label("hub.v2-p2p-0") == "hub-v2-p2p-0"


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("gaia:v1.2.3", "v1.2.3"), ("gaia", "latest"), ("gaia:", "latest"),
        ("reg:5000/gaia:v9", "v9"), ("reg:5000/gaia", "latest"),
        ("gaia:v1@sha256:" + "a" * 64, "v1"), ("gaia@sha256:" + "a" * 64, "a" * 63),
    ],
)  # fmt: skip
def test_the_version_label_is_the_tag_of_the_image(image: str, version: str) -> None:
    assert image_version(image) == version


def test_labels_of_the_owner_never_hide_a_child_from_what_selects_it() -> None:
    helm = {"app.kubernetes.io/name": "chart", "app.kubernetes.io/component": "x", "team": "a"}
    found = labels(full_node(metadata={"labels": helm}), instance="hub-0")
    assert found == {
        "app.kubernetes.io/created-by": "cosmos-operator",
        "app.kubernetes.io/component": "CosmosFullNode",
        "app.kubernetes.io/name": "hub",
        "app.kubernetes.io/version": "v1.2.3",
        "app.kubernetes.io/instance": "hub-0",
        "cosmos.strange.love/network": "mainnet",
        "cosmos.strange.love/type": "FullNode",
        "team": "a",
    }


def test_a_template_adds_labels_and_replaces_none() -> None:
    owner = full_node()
    template = type(owner.spec.pod_template.metadata)(
        labels={"a": "1", "app.kubernetes.io/name": "mine"}, annotations={"b": "2"}
    )
    found = metadata(owner, "hub-0", labels(owner), 4, template)
    assert found.labels["a"] == "1"
    assert found.labels["app.kubernetes.io/name"] == "hub"
    assert found.annotations == {"b": "2", "app.kubernetes.io/ordinal": "4"}


@pytest.mark.parametrize(
    ("text", "hash"), [("", "811c9dc5"), ("a", "050c5d7e"), ("foobar", "31f0b262")]
)
def test_the_revision_is_fnv_of_32_bits(text: str, hash: str) -> None:
    assert MARK.hash(text.encode()) == hash
