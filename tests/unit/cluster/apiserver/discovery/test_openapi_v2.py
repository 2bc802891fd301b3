"""The one document of OpenAPI v2, and that it follows what is served."""

from __future__ import annotations

from quintant.cluster.apiserver.discovery.openapi_v2 import GNOSTIC
from quintant.wire.protobuf import Wire, members, tag
from unit.cluster.api import CRDS, api, foo_definition

PATH = "/openapi/v2"
FOO = "com.example.v1.Foo"


async def test_a_definition_is_described_as_soon_as_it_is_served() -> None:
    client = api()
    assert FOO not in (await client.get(PATH))["definitions"]
    await client.create(CRDS, foo_definition())
    document = await client.get(PATH)
    assert FOO in document["definitions"]
    assert "/apis/example.com/v1/namespaces/{namespace}/foos" in document["paths"]


async def test_no_reference_leads_nowhere() -> None:
    reply = await api().send("GET", PATH)
    told = reply.body.decode()
    definitions = (await api().get(PATH))["definitions"]
    places = {part.partition('"')[0] for part in told.split('"$ref":"#/definitions/')[1:]}
    assert places
    assert not places - definitions.keys()
    assert "#/components/" not in told


async def test_what_is_known_already_is_not_sent_again() -> None:
    client = api()
    first = await client.send("GET", PATH)
    again = await client.send("GET", PATH, headers={"if-none-match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


async def test_the_form_for_go_has_every_schema() -> None:
    client = api()
    names = (await client.get(PATH))["definitions"].keys()
    raw = (await client.send("GET", PATH, headers={"accept": GNOSTIC})).body
    (definitions,) = (value for key, value in members(raw) if key == tag(9, Wire.LENGTH))
    assert isinstance(definitions, bytes)
    pairs = [dict(members(value)) for _, value in members(definitions) if isinstance(value, bytes)]
    assert [pair[tag(1, Wire.LENGTH)] for pair in pairs] == [name.encode() for name in names]
