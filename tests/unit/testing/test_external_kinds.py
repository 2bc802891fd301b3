"""Kinds of others: declared to be used, and never defined by us."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from quintant import Context, Custom, Manager, Model, Object, Opaque, replace, resource
from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.errors import ConfigError
from quintant.core.owner import owned
from quintant.core.schema.crd import crd, definitions
from quintant.runtime.manager.install_crds import install_crds, install_manager_crds
from quintant.runtime.manager.manifests import install_manifests
from quintant.testing import InProcessCluster, named


class CertificateSpec(Model):
    secret_name: str = ""
    dns_names: tuple[str, ...] = ()


class CertificateStatus(Model):
    not_after: str = ""


@resource(group="cert-manager.io", version="v1", status=True, external=True)
class Certificate(Custom[CertificateSpec, CertificateStatus]):
    """Of cert-manager, with the fields that we use."""


class Wide(Model):
    secret_name: str = ""
    issuer_ref: Mapping[str, str] = {}


@resource(group="cert-manager.io", version="v1", kind="Certificate", external=True)
class WholeCertificate(Object):
    """The same with more of its fields."""

    spec: Wide = Wide()


class IngressSpec(Model):
    ingress_class_name: str = ""
    default_backend: Opaque | None = None


@resource(group="networking.k8s.io", version="v1", plural="ingresses", status=True)
class Ingress(Custom[IngressSpec, Model]):
    """Of Kubernetes itself."""


class Site(Model):
    host: str = ""


@resource(group="demo.dev", version="v1")
class Website(Custom[Site, None]):
    """Ours."""


BACKEND = Opaque.of({"service": {"name": "web", "port": {"number": 80}}})


async def reconcile(site: Website, ctx: Context[Website]) -> None:
    spec = CertificateSpec(secret_name=site.metadata.name, dns_names=(site.spec.host,))
    meta = named(site.metadata.name)
    await ctx.apply(owned(Certificate(metadata=meta, spec=spec), by=site))
    wanted = Ingress(metadata=meta, spec=IngressSpec(default_backend=BACKEND))
    await ctx.apply(owned(wanted, by=site))


def manager() -> Manager:
    made = Manager("sites")
    made.controls(Website).owns(Certificate).owns(Ingress).reconcile(reconcile)
    return made


def names(found: list[Mapping[str, object]]) -> list[str]:
    return [each["metadata"]["name"] for each in found]  # type: ignore[index]


def test_no_definition_is_generated_for_a_kind_of_others() -> None:
    assert names([*definitions([Website, Certificate, Ingress])]) == ["websites.demo.dev"]


def test_manifests_have_rights_to_a_kind_of_others_and_not_its_definition() -> None:
    found = install_manifests(manager(), "default")
    assert names([*found["crds"]]) == ["websites.demo.dev"]
    assert "certificates" in str(found["rbac"])
    assert "ingresses" in str(found["rbac"])


async def test_installing_leaves_the_definition_of_others_as_it_is(
    cluster: InProcessCluster,
) -> None:
    await install_manager_crds(cluster.admin, manager(), "default")
    await install_crds(cluster.admin, [Website, Certificate, Ingress])
    found = await cluster.client.list(CustomResourceDefinition)
    assert [each.metadata.name for each in found] == ["websites.demo.dev"]


async def test_kinds_of_others_can_be_used_in_a_test_as_if_they_were_installed(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(manager())
    await cluster.create(Website(metadata=named("shop"), spec=Site(host="shop.example")))
    await cluster.eventually(Certificate, "shop", until=lambda c: c.spec.dns_names != ())
    await cluster.eventually(Ingress, "shop", until=lambda i: i.spec.default_backend == BACKEND)


async def test_fields_that_a_kind_of_others_has_beyond_ours_are_kept_in_a_test(
    cluster: InProcessCluster,
) -> None:
    await cluster.install(Certificate)
    spec = Wide(secret_name="a", issuer_ref={"name": "ours"})
    await cluster.client.create(WholeCertificate(metadata=named("a"), spec=spec))
    ours = await cluster.get(Certificate, "a")
    changed = replace(ours, spec=replace(ours.spec, secret_name="b"))
    await cluster.client.patch(changed, since=ours)
    kept = await cluster.get(WholeCertificate, "a")
    assert kept.spec == Wide(secret_name="b", issuer_ref={"name": "ours"})


def test_definition_of_a_kind_of_others_is_refused_when_asked_for_by_name() -> None:
    with pytest.raises(ConfigError, match="is defined by others"):
        crd(Certificate)
