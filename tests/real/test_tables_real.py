"""The committed tables are what the pinned Kubernetes says, and read what a real server writes."""

from __future__ import annotations

import os

import msgspec
import pytest

from envtest import RealCluster
from envtest.versions import chosen
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.protobuf import unwrap
from quintant.cluster.apiserver.go_types import find
from quintant.version import KUBERNETES
from tables import files

pytestmark = pytest.mark.realtime

PROTOBUF = "application/vnd.kubernetes.protobuf"
JSON = "application/json"
OTHER_VERSION = chosen(os.environ) != KUBERNETES


@pytest.mark.skipif(OTHER_VERSION, reason=f"the tables are those of {KUBERNETES}")
def test_the_committed_files_equal_a_regeneration(real_cluster: RealCluster) -> None:
    made = files.content(real_cluster)
    assert made
    for path, content in made.items():
        assert path.read_bytes() == content, f"{path.name} is out of step: run make tables"


@pytest.mark.parametrize(
    ("path", "api_version", "kind"),
    [
        ("/api/v1/namespaces/default", "v1", "Namespace"),
        ("/api/v1/namespaces/default/services/kubernetes", "v1", "Service"),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/admin",
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
        ),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
            "scheduling.k8s.io/v1",
            "PriorityClass",
        ),
    ],
)
async def test_an_object_in_protobuf_is_the_same_as_in_json(
    transport: HttpTransport, path: str, api_version: str, kind: str
) -> None:
    wire = await transport.request(ApiRequest("GET", path, {}, {"accept": PROTOBUF}))
    text = await transport.request(ApiRequest("GET", path, {}, {"accept": JSON}))
    message = find(api_version, kind)
    assert message is not None
    body = unwrap(wire.body)
    assert (body.api_version, body.kind) == (api_version, kind)
    found = {"apiVersion": api_version, "kind": kind, **body.read(message)}
    assert found == msgspec.json.decode(text.body)
