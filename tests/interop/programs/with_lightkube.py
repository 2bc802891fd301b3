"""What users of lightkube do: objects, patch, apply, list, watch, scale, custom resources."""

# mypy: ignore-errors

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Pod

client = Client(field_manager="interop")
client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data={"k": "v"}))
client.patch(ConfigMap, "a", {"data": {"k": "w"}})
assert client.get(ConfigMap, "a").data == {"k": "w"}
applied = ConfigMap(
    apiVersion="v1",
    kind="ConfigMap",
    metadata=ObjectMeta(name="b", namespace="default"),
    data={"k": "v"},
)
assert client.apply(applied).metadata.managedFields[0].manager == "interop"
assert {"a", "b"} <= {each.metadata.name for each in client.list(ConfigMap)}

template = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "web"}]},
}
spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
client.create(Deployment.from_dict({"metadata": {"name": "web"}, "spec": spec}))
for _, found in client.watch(Deployment, fields={"metadata.name": "web"}):
    if found.status and found.status.readyReplicas == 2:
        break
assert len(list(client.list(Pod, labels={"app": "web"}))) == 2

boats = {
    "metadata": {"name": "boats.interop.dev"},
    "spec": {
        "group": "interop.dev",
        "scope": "Namespaced",
        "names": {"plural": "boats", "kind": "Boat", "singular": "boat"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
client.create(CustomResourceDefinition.from_dict(boats))
client.wait(CustomResourceDefinition, "boats.interop.dev", for_conditions=["Established"])
Boat = create_namespaced_resource("interop.dev", "v1", "Boat", "boats")
client.create(Boat(metadata=ObjectMeta(name="a", namespace="default"), spec={"crew": 2}))
assert client.get(Boat, "a")["spec"] == {"crew": 2}

client.delete(ConfigMap, "a")
try:
    client.get(ConfigMap, "a")
    raise SystemExit("a is still there")
except ApiError as error:
    if error.status.code != 404:
        raise
print("done")
