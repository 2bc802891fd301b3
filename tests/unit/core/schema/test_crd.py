from __future__ import annotations

import sys
from types import ModuleType
from typing import Annotated

import pytest

from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.core.object import Custom, Metadata, Model
from quintant.core.resource import ConversionWebhook, Scale, projection, resource
from quintant.core.schema.crd import crd, crds, definitions
from quintant.core.schema.markers import cel, default, immutable


class Spec(Model):
    replicas: Annotated[int | None, default(1)] = None
    zone: Annotated[str | None, immutable()] = None


class Status(Model):
    replicas: int = 0
    selector: str = ""


@resource(group="shop.dev", version="v1", status=True)
class Plain(Custom[Spec, Status]):
    """A kind with nothing special."""


@resource(
    group="shop.dev",
    version="v1",
    kind="Fleet",
    namespaced=False,
    status=True,
    short=["fl"],
    categories=["shop"],
    columns={"Replicas": ".spec.replicas", "Age": ".metadata.creationTimestamp"},
    rules=[cel("self.metadata.name != 'none'", "choose a name")],
    scale=Scale(selector=".status.selector"),
    selectable=[".spec.zone"],
    conversion=ConversionWebhook("webhook", "system"),
)
class Fleet(Custom[Spec, Status]):
    """A kind with everything."""


@resource(
    group="shop.dev", version="v1beta1", kind="Fleet", namespaced=False,
    storage=False, deprecated="shop.dev/v1beta1 Fleet is deprecated; use v1",
)  # fmt: skip
class OldFleet(Custom[Spec, Status]):
    """A fleet of old."""


@projection(Plain)
class Narrow(Custom[Spec, None]):
    """A view of Plain, and not a kind of its own."""


def test_a_plain_kind_makes_a_plain_definition() -> None:
    definition = crd(Plain)
    schema = definition["spec"]["versions"][0].pop("schema")
    assert definition == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "plains.shop.dev"},
        "spec": {
            "group": "shop.dev",
            "scope": "Namespaced",
            "names": {
                "kind": "Plain",
                "listKind": "PlainList",
                "plural": "plains",
                "singular": "plain",
            },
            "versions": [
                {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
            ],
        },
    }
    assert schema["openAPIV3Schema"]["description"] == "A kind with nothing special."


def test_all_that_resource_takes_is_in_the_definition() -> None:
    spec = crd(Fleet)["spec"]
    (version,) = spec["versions"]
    assert spec["scope"] == "Cluster"
    assert spec["names"]["shortNames"] == ["fl"]
    assert spec["names"]["categories"] == ["shop"]
    assert version["additionalPrinterColumns"] == [
        {"name": "Replicas", "jsonPath": ".spec.replicas", "type": "integer"},
        {"name": "Age", "jsonPath": ".metadata.creationTimestamp", "type": "date"},
    ]
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }
    assert version["selectableFields"] == [{"jsonPath": ".spec.zone"}]
    assert version["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] == [
        {"rule": "self.metadata.name != 'none'", "message": "choose a name"}
    ]
    assert spec["conversion"] == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "service": {
                    "name": "webhook",
                    "namespace": "system",
                    "path": "/convert",
                    "port": 443,
                }
            },
            "conversionReviewVersions": ["v1"],
        },
    }


def test_versions_of_a_kind_share_a_definition() -> None:
    new, old = crd(Fleet, OldFleet)["spec"]["versions"]
    assert (new["name"], new["storage"]) == ("v1", True)
    assert (old["name"], old["storage"], old["served"]) == ("v1beta1", False, True)
    assert old["deprecated"] is True
    assert old["deprecationWarning"] == "shop.dev/v1beta1 Fleet is deprecated; use v1"
    assert "deprecated" not in new


def test_names_and_conversion_are_those_of_the_stored_version() -> None:
    assert crd(OldFleet, Fleet)["spec"]["names"] == crd(Fleet)["spec"]["names"]
    assert "conversion" in crd(OldFleet, Fleet)["spec"]


def test_the_same_classes_give_the_same_definition() -> None:
    assert crd(Fleet, OldFleet) == crd(Fleet, OldFleet)


def test_exactly_one_version_is_stored() -> None:
    with pytest.raises(ConfigError, match="one is stored, not 0"):
        crd(OldFleet)
    with pytest.raises(ConfigError, match="one is stored, not 2"):
        crd(Fleet, Fleet)


def test_different_kinds_are_not_versions_of_one() -> None:
    with pytest.raises(ConfigError, match="cannot define Plain and Fleet together"):
        crd(Plain, Fleet)


def test_built_in_kinds_have_no_definition() -> None:
    with pytest.raises(ConfigError, match="ConfigMap has no CustomResourceDefinition"):
        crd(ConfigMap)


def test_a_module_gives_the_kinds_it_defines_sorted_by_name() -> None:
    found = crds(sys.modules[__name__])
    assert found == [crd(Fleet, OldFleet), crd(Plain)]


def test_a_kind_given_twice_is_one_version() -> None:
    assert definitions([Plain, Fleet, Plain, OldFleet]) == [crd(Fleet, OldFleet), crd(Plain)]


def test_built_in_kinds_and_views_are_passed_over() -> None:
    assert definitions([ConfigMap, Narrow, Metadata[Plain], Plain]) == [crd(Plain)]


def test_kinds_that_a_module_merely_imports_are_not_its_own() -> None:
    stranger = ModuleType("stranger")
    vars(stranger)["Fleet"] = Fleet
    assert crds(stranger) == []
