"""Protobuf bodies become the objects that Go would have written as JSON."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.protobuf import DEPTH_LIMIT, MAGIC, unwrap
from quintant.cluster.apiserver.go_types import message
from quintant.wire.protobuf import Malformed
from unit.cluster.protobuf_samples import ProtobufWriter, Sample, body, samples

SAMPLES = samples()
KINDS = sorted({sample.kind for sample in SAMPLES})


def decode(data: bytes) -> dict[str, object]:
    opened = unwrap(data)
    kind = go_types.find(opened.api_version, opened.kind)
    assert kind is not None
    return {"apiVersion": opened.api_version, "kind": opened.kind, **opened.read(kind)}


def config_map(message: ProtobufWriter) -> dict[str, object]:
    return decode(body("v1", "ConfigMap", message))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_body_is_read_as_go_reads_it(sample: Sample) -> None:
    assert decode(sample.protobuf) == sample.json


def test_there_are_samples_of_every_kind() -> None:
    assert sorted("/".join(label) for label in go_types.kinds()) == KINDS


@settings(max_examples=300)
@given(data=st.data())
def test_a_body_cut_off_anywhere_is_an_object_or_malformed(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(SAMPLES))
    end = data.draw(st.integers(0, len(sample.protobuf)))
    survive(sample.protobuf[:end])


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_garbled_body_is_an_object_or_malformed(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(SAMPLES))
    raw = bytearray(sample.protobuf)
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(4, len(raw) - 1))] = data.draw(st.integers(0, 255))
    survive(bytes(raw))


@settings(max_examples=300)
@given(kind=st.sampled_from(KINDS), raw=st.binary(max_size=200))
def test_random_bytes_are_an_object_or_malformed(kind: str, raw: bytes) -> None:
    api_version, _, name = kind.rpartition("/")
    survive(body(api_version, name, ProtobufWriter(raw)))
    survive(raw)
    survive(MAGIC + raw)


def survive(data: bytes) -> None:
    """Decode; what comes out, if anything, is JSON."""
    try:
        opened = unwrap(data)
        kind = go_types.find(opened.api_version, opened.kind)
        if kind is not None:
            msgspec.json.encode(opened.read(kind))
    except Malformed:
        pass


def test_nesting_has_a_limit() -> None:
    schema = ProtobufWriter()
    for _ in range(DEPTH_LIMIT):
        schema = ProtobufWriter().text(28, schema)
    version = ProtobufWriter().text(4, ProtobufWriter().text(1, schema))
    definition = ProtobufWriter().text(2, ProtobufWriter().text(7, version))
    with pytest.raises(Malformed, match="nested more than 100 deep"):
        decode(body("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty data"),
        (MAGIC, "empty body"),
        (b"hello", r"expected prefix \[107 56 115 0\]"),
        (MAGIC + b"\x0a\xff", "unexpected EOF"),
        (MAGIC + b"\x0a\x04\x0a\x02\xff\xfe", "not valid UTF-8"),
    ],
)
def test_what_is_no_envelope_is_malformed(data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        unwrap(data)


def test_a_known_field_in_a_wrong_form_is_malformed() -> None:
    with pytest.raises(Malformed, match="wrong wireType = 0 for field metadata"):
        config_map(ProtobufWriter().number(1, 1))


def test_a_string_that_is_no_text_is_malformed() -> None:
    with pytest.raises(Malformed, match="not valid UTF-8"):
        config_map(ProtobufWriter().text(1, ProtobufWriter().text(1, b"\xff")))


def test_unknown_fields_are_passed_over() -> None:
    found = config_map(
        ProtobufWriter().text(99, "x").number(98, 5).text(1, ProtobufWriter().text(1, "a"))
    )
    assert found["metadata"] == {"name": "a"}


def test_the_last_of_two_values_counts() -> None:
    metadata = ProtobufWriter().text(1, "a").text(1, "b")
    assert config_map(ProtobufWriter().text(1, metadata))["metadata"] == {"name": "b"}


def test_an_entry_without_key_or_value_is_an_empty_one() -> None:
    assert config_map(ProtobufWriter().text(2, ProtobufWriter()).text(3, ProtobufWriter()))[
        "data"
    ] == {"": ""}


def test_an_explicit_zero_behind_a_pointer_survives() -> None:
    spec = ProtobufWriter().number(1, 0).number(5, 0)
    found = decode(body("apps/v1", "Deployment", ProtobufWriter().text(2, spec)))
    expected = message("apps.v1.DeploymentSpec").zero() | {"replicas": 0}
    assert found["spec"] == expected


def test_a_list_of_numbers_may_be_packed() -> None:
    rows = ProtobufWriter().number(4, 7).text(4, b"\x08\x96\x01").number(4, -1)
    context = ProtobufWriter().text(2, ProtobufWriter().text(14, rows))
    found = decode(body("v1", "Pod", context))
    assert found["spec"] == {
        "containers": None,
        "securityContext": {"supplementalGroups": [7, 8, 150, -1]},
    }


@pytest.mark.parametrize("seconds", [2**62, -(2**62)])
def test_a_time_nobody_can_write_is_malformed(seconds: int) -> None:
    when = ProtobufWriter().number(1, seconds)
    with pytest.raises(Malformed, match="out of range"):
        config_map(ProtobufWriter().text(1, ProtobufWriter().text(8, when)))


def test_a_quantity_that_is_none_is_malformed() -> None:
    limits = ProtobufWriter().text(1, "cpu").text(2, ProtobufWriter().text(1, "many"))
    quota = ProtobufWriter().text(2, ProtobufWriter().text(1, limits))
    with pytest.raises(Malformed, match="not a quantity"):
        decode(body("v1", "ResourceQuota", quota))


def test_raw_json_that_is_none_is_malformed() -> None:
    with pytest.raises(Malformed, match="JSON"):
        decode(
            body(
                "apps/v1",
                "ControllerRevision",
                ProtobufWriter().text(2, ProtobufWriter().text(1, "{oops")),
            )
        )
