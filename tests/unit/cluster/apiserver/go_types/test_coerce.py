"""Objects are made to fit their kinds, as a real server's types make them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from unit.cluster.protobuf_samples import Sample, samples

JsonObject = dict[str, Any]


def fitted(
    obj: JsonObject, kind: str = "Pod", api_version: str = "v1"
) -> tuple[JsonObject, list[str]]:
    message = go_types.find(api_version, kind)
    assert message is not None
    obj = deepcopy(obj)
    return obj, coerce(message, obj)


def pod(container: JsonObject, **spec: Any) -> JsonObject:
    return {"metadata": {"name": "a"}, "spec": {"containers": [container], **spec}}


@pytest.mark.parametrize(
    "sample", [sample for sample in samples() if sample.case != "hollow"], ids=str
)
def test_what_go_wrote_fits_already(sample: Sample) -> None:
    api_version, _, kind = sample.kind.rpartition("/")
    assert fitted(sample.json, kind, api_version) == (sample.json, [])


def test_fitting_twice_changes_nothing() -> None:
    found = samples()
    assert found
    for sample in found:
        api_version, _, kind = sample.kind.rpartition("/")
        once, _ = fitted(sample.json, kind, api_version)
        assert fitted(once, kind, api_version) == (once, [])


def test_what_is_always_there_is_added() -> None:
    assert fitted(pod({"name": "c"}))[0] == {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "resources": {}}]},
        "status": {},
    }


def test_what_is_empty_is_dropped_unless_a_pointer_holds_it() -> None:
    obj, _ = fitted(
        {
            "metadata": {"name": "a", "labels": {}, "generation": 0},
            "spec": {"containers": [], "hostNetwork": False, "priority": 0, "hostUsers": False},
        }
    )
    assert obj["metadata"] == {"name": "a"}
    assert obj["spec"] == {"containers": None, "priority": 0, "hostUsers": False}


def test_null_is_absent() -> None:
    obj, _ = fitted({"metadata": None, "spec": {"containers": None, "priority": None}})
    assert obj == {"metadata": {}, "spec": {"containers": None}, "status": {}}


def test_null_in_a_map_or_list_is_an_empty_value() -> None:
    obj, _ = fitted({"metadata": {"labels": {"a": None}, "finalizers": [None]}})
    assert obj["metadata"] == {"labels": {"a": ""}, "finalizers": [""]}


def test_unknown_fields_are_dropped_and_named_in_the_order_they_came() -> None:
    obj, unknown = fitted(
        {
            "metadata": {"name": "a", "foo": 1},
            "bar": 2,
            "spec": {
                "containers": [{"name": "c", "x": 1, "resources": {"y": 2}}],
                "volumes": [{"name": "v", "emptyDir": {"z": 1}}],
            },
        }
    )
    assert unknown == [
        "metadata.foo",
        "bar",
        "spec.containers[0].x",
        "spec.containers[0].resources.y",
        "spec.volumes[0].emptyDir.z",
    ]
    assert "bar" not in obj
    assert obj["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


def test_names_are_told_apart_by_case() -> None:
    assert fitted({"Spec": {}})[1] == ["Spec"]


def test_an_item_of_a_map_is_named_by_its_key() -> None:
    schema = {"openAPIV3Schema": {"properties": {"size": {"maximal": 1}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {"spec": {"versions": [version]}}
    _, unknown = fitted(definition, "CustomResourceDefinition", "apiextensions.k8s.io/v1")
    assert unknown == ["spec.versions[0].schema.openAPIV3Schema.properties.size.maximal"]


def test_a_union_tells_of_nothing_unknown_inside() -> None:
    schema = {"openAPIV3Schema": {"items": {"type": "string", "nope": 1}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {"spec": {"versions": [version]}}
    obj, unknown = fitted(definition, "CustomResourceDefinition", "apiextensions.k8s.io/v1")
    assert unknown == []
    assert obj["spec"]["versions"][0]["schema"] == {
        "openAPIV3Schema": {"items": {"type": "string"}}
    }


def test_quantities_times_and_bytes_are_respelt() -> None:
    obj, _ = fitted(pod({"name": "c", "resources": {"limits": {"cpu": "0.5", "memory": 1024}}}))
    assert obj["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1024"}
    }
    times = {"metadata": {"creationTimestamp": "2024-01-01T02:00:00.5+02:00"}}
    assert fitted(times)[0]["metadata"] == {"creationTimestamp": "2024-01-01T00:00:00Z"}
    assert fitted({"data": {"a": "aG\nk="}}, "Secret")[0]["data"] == {"a": "aGk="}


@pytest.mark.parametrize(
    ("obj", "kind", "why"),
    [
        (
            {"data": {"a": 1}},
            "ConfigMap",
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            {"metadata": {"name": 5}},
            "ConfigMap",
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name "
            "of type string",
        ),
        (
            {"spec": {"replicas": "x"}},
            "Deployment",
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas "
            "of type int32",
        ),
        (
            {"spec": {"replicas": 1.5}},
            "Deployment",
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas "
            "of type int32",
        ),
        (
            {"spec": {"replicas": 99999999999}},
            "Deployment",
            "json: cannot unmarshal number 99999999999 into Go struct field "
            "DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"spec": {"replicas": True}},
            "Deployment",
            "json: cannot unmarshal bool into Go struct field DeploymentSpec.spec.replicas "
            "of type int32",
        ),
        (
            {"spec": []},
            "Deployment",
            "json: cannot unmarshal array into Go struct field Deployment.spec "
            "of type v1.DeploymentSpec",
        ),
        (
            {"spec": {"template": {"spec": {"containers": {"a": 1}}}}},
            "Deployment",
            "json: cannot unmarshal object into Go struct field "
            "PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            {"spec": {"template": {"spec": {"restartPolicy": 1}}}},
            "Deployment",
            "json: cannot unmarshal number into Go struct field "
            "PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            {"metadata": {"creationTimestamp": "yesterday"}},
            "ConfigMap",
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": '
            'cannot parse "yesterday" as "2006"',
        ),
        (
            {"metadata": {"creationTimestamp": "2024-13-01T00:00:00Z"}},
            "ConfigMap",
            'parsing time "2024-13-01T00:00:00Z" as "2006-01-02T15:04:05Z07:00": '
            'cannot parse "2024-13-01T00:00:00Z" as "2006"',
        ),
        (
            {"spec": {"renewTime": "2024-01-01T00:00:00Z"}},
            "Lease",
            'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": '
            'cannot parse "2024-01-01T00:00:00Z" as "2006"',
        ),
        (
            {"spec": {"hard": {"cpu": "abc"}}},
            "ResourceQuota",
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ({"data": {"a": "***"}}, "Secret", "illegal base64 data at input byte 0"),
        ({"data": {"a": "aGk"}}, "Secret", "illegal base64 data at input byte 0"),
        ({"data": {"a": "aGkhaGk"}}, "Secret", "illegal base64 data at input byte 4"),
        ({"data": {"a": "aG="}}, "Secret", "illegal base64 data at input byte 3"),
        ({"data": {"a": "aG=k"}}, "Secret", "illegal base64 data at input byte 2"),
        (
            {"spec": {"ports": [{"port": 1, "targetPort": True}]}},
            "Service",
            "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort "
            "of type int32",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_in_the_words_of_a_real_server(
    obj: JsonObject, kind: str, why: str
) -> None:
    versions = {"Deployment": "apps/v1", "Lease": "coordination.k8s.io/v1"}
    with pytest.raises(CoercionError) as refused:
        fitted(obj, kind, versions.get(kind, "v1"))
    assert str(refused.value) == why
