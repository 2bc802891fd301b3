"""The services of a kept cluster follow it to another share of loopback."""

from __future__ import annotations

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.host.loopback import FIRST, SHARES
from quintant.cluster.instance.kubernetes_service import advertise
from quintant.cluster.instance.renumber import api_service_ip, renumber_services
from quintant.core.address import BindAddress
from unit.cluster.api import Api, JsonObject

SERVICES = "/api/v1/namespaces/default/services"
SECOND = SHARES[1]
PLACE = BindAddress("127.0.0.1", 7443)


def service(name: str, **spec: object) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def kept(*services: JsonObject) -> RevisionStore:
    """What a cluster with the second share leaves behind."""
    server = ApiServer(services=SECOND.services)
    await advertise(server, PLACE, SECOND.services)
    for each in services:
        await Api(server).create(SERVICES, each)
    return server.store


async def addresses(store: RevisionStore) -> dict[str, list[str]]:
    found = await Api(ApiServer(store=store)).get(SERVICES)
    return {each["metadata"]["name"]: each["spec"]["clusterIPs"] for each in found["items"]}


async def test_a_store_knows_where_its_cluster_was() -> None:
    assert api_service_ip(RevisionStore()) == ""
    assert api_service_ip(await kept()) == SECOND.api


async def test_services_move_along_and_back() -> None:
    store = await kept(service("web"), service("set", clusterIP=str(SECOND.services[777])))
    before = await addresses(store)
    renumber_services(store, FIRST.services)
    there = await addresses(store)
    assert there == {name: [old.replace("127.97.", "127.96.")] for name, (old,) in before.items()}
    assert there["kubernetes"] == [FIRST.api]
    renumber_services(store, SECOND.services)
    assert await addresses(store) == before


async def test_where_nothing_is_elsewhere_nothing_is_written() -> None:
    store = await kept(service("web"))
    revision = store.revision
    renumber_services(store, SECOND.services)
    assert store.revision == revision


async def test_services_without_an_address_of_a_cluster_stay() -> None:
    store = await kept(service("none", clusterIP="None"))
    renumber_services(store, FIRST.services)
    assert (await addresses(store))["none"] == ["None"]


async def test_the_api_server_says_where_it_moved() -> None:
    store = await kept()
    renumber_services(store, FIRST.services)
    server = ApiServer(store=store)
    await advertise(server, PLACE, FIRST.services)
    assert api_service_ip(store) == FIRST.api
    path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"
    assert (await Api(server).get(path))["spec"] == {"cidrs": [str(FIRST.services)]}
