"""Strategic merge patches and what becomes of them, the same on every server.

The unit tests drive the embedded server by this table and the real tests a real one: each case
creates an object, patches it, and looks at parts of the answer. Where a server adds defaults, a
case looks past them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
POD = "spec.template.spec"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap"}


@dataclass(frozen=True)
class Case:
    """A patch of an object, and either parts of the result or the refusal."""

    name: str
    path: str
    live: JsonObject
    patch: Any
    found: Mapping[str, Any] = field(default_factory=dict)
    """Values by their paths; `*` collects from every item of a list."""
    code: int = 200
    message: str = ""
    """Of a refusal, if it is the same everywhere."""

    @property
    def url(self) -> str:
        return f"{self.path}/{self.object_name}"

    @property
    def object_name(self) -> str:
        return "".join(char if char.isalnum() else "-" for char in self.name)

    @property
    def object(self) -> JsonObject:
        metadata = {**self.live.get("metadata", {}), "name": self.object_name}
        return {**self.live, "metadata": metadata}

    def check(self, code: int, answer: JsonObject) -> None:
        """Assert that an answer is what the case says."""
        assert code == self.code, answer
        assert not self.message or answer["message"] == self.message
        assert {path: look(answer, path) for path in self.found} == dict(self.found)


def look(value: Any, path: str) -> Any:
    """What is at a path; None if nothing is."""
    first, _, rest = path.partition(".")
    if first == "*":
        return [look(item, rest) if rest else item for item in value or []]
    below = value.get(first) if isinstance(value, dict) else None
    return look(below, rest) if rest else below


def deployment(**pod: Any) -> JsonObject:
    """A deployment whose pods have, beside what is given, one container."""
    spec = {"containers": [{"name": "a", "image": "a:1"}], **pod}
    labels = {"app": "web"}
    return {
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        }
    }


def containers(*names: str) -> list[JsonObject]:
    return [{"name": name, "image": f"{name}:1"} for name in names]


def in_pod(**patch: Any) -> JsonObject:
    return {"spec": {"template": {"spec": patch}}}


def env(*names: str) -> JsonObject:
    values = [{"name": name, "value": name} for name in names]
    return deployment(containers=[{"name": "a", "image": "a:1", "env": values}])


def container(**patch: Any) -> JsonObject:
    return in_pod(containers=[{"name": "a", **patch}])


VOLUMES = deployment(
    volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}]
)
FINALIZERS: JsonObject = {"metadata": {"finalizers": ["a.io/1", "a.io/2", "a.io/3"]}}
NO_KEY = "does not contain declared merge key: name"

CASES = [
    Case(
        "a scalar is replaced and null deletes",
        CONFIG_MAPS,
        {"data": {"a": "1", "b": "2"}},
        {"data": {"a": "3", "b": None, "c": "4"}},
        {"data": {"a": "3", "c": "4"}},
    ),
    Case(
        "a map may be replaced",
        CONFIG_MAPS,
        {"data": {"a": "1", "b": "2"}},
        {"data": {"$patch": "replace", "c": "3"}},
        {"data": {"c": "3"}},
    ),
    Case(
        "a map may be emptied",
        CONFIG_MAPS,
        {"data": {"a": "1"}},
        {"data": {"$patch": "delete"}},
        {"data": None},
    ),
    Case(
        "containers merge by name and new ones come first",
        DEPLOYMENTS,
        deployment(containers=containers("a", "b")),
        in_pod(containers=[{"name": "c", "image": "c:1"}, {"name": "b", "image": "b:2"}]),
        {
            f"{POD}.containers.*.name": ["c", "a", "b"],
            f"{POD}.containers.*.image": ["c:1", "a:1", "b:2"],
        },
    ),
    Case(
        "an item is deleted by its key",
        DEPLOYMENTS,
        deployment(containers=containers("a", "b")),
        in_pod(containers=[{"name": "a", "$patch": "delete"}]),
        {f"{POD}.containers.*.name": ["b"]},
    ),
    Case(
        "a list is replaced when told so",
        DEPLOYMENTS,
        deployment(containers=containers("a", "b")),
        in_pod(containers=[{"$patch": "replace"}, {"name": "c", "image": "c:1"}]),
        {f"{POD}.containers.*.name": ["c"]},
    ),
    Case(
        "an order is directed",
        DEPLOYMENTS,
        deployment(containers=containers("a", "b", "c")),
        in_pod(**{"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}),
        {f"{POD}.containers.*.name": ["c", "a", "b"]},
    ),
    Case(
        "an order and a change come together",
        DEPLOYMENTS,
        deployment(containers=containers("a", "b")),
        in_pod(
            **{"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]},
            containers=[{"name": "a", "image": "a:2"}],
        ),
        {
            f"{POD}.containers.*.name": ["b", "a"],
            f"{POD}.containers.*.image": ["b:1", "a:2"],
        },
    ),
    Case(
        "an item outside the directed order stays beside its neighbours",
        DEPLOYMENTS,
        deployment(containers=containers("a", "x", "b")),
        in_pod(**{"$setElementOrder/containers": [{"name": "a"}, {"name": "b"}]}),
        {f"{POD}.containers.*.name": ["a", "x", "b"]},
    ),
    Case(
        "lists in items merge by their own keys",
        DEPLOYMENTS,
        env("A", "B"),
        container(env=[{"name": "B", "value": "2"}, {"name": "C", "value": "3"}]),
        {f"{POD}.containers.*.env.*.value": [["A", "2", "3"]]},
    ),
    Case(
        "an item of a nested list is deleted",
        DEPLOYMENTS,
        env("A", "B"),
        container(env=[{"name": "A", "$patch": "delete"}]),
        {f"{POD}.containers.*.env.*.name": [["B"]]},
    ),
    Case(
        "container ports merge by port alone",
        DEPLOYMENTS,
        deployment(
            containers=[
                {"name": "a", "image": "a:1", "ports": [{"containerPort": 80, "name": "web"}]}
            ]
        ),
        container(ports=[{"containerPort": 80, "name": "http"}, {"containerPort": 81}]),
        {f"{POD}.containers.*.ports.*.name": [["http", None]]},
    ),
    Case(
        "service ports merge by port",
        SERVICES,
        {"spec": {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}},
        {"spec": {"ports": [{"port": 81, "targetPort": 8081}]}},
        {"spec.ports.*.name": ["a", "b"], "spec.ports.*.port": [80, 81]},
    ),
    Case(
        "a list without a strategy is replaced",
        DEPLOYMENTS,
        deployment(tolerations=[{"key": "a", "operator": "Exists"}]),
        in_pod(tolerations=[{"key": "b", "operator": "Exists"}]),
        {f"{POD}.tolerations.*.key": ["b"]},
    ),
    Case(
        "a list of plain values without a strategy is replaced",
        DEPLOYMENTS,
        deployment(containers=[{"name": "a", "image": "a:1", "command": ["x", "y"]}]),
        container(command=["z"]),
        {f"{POD}.containers.*.command": [["z"]]},
    ),
    Case(
        "plain values with a strategy are united",
        CONFIG_MAPS,
        FINALIZERS,
        {"metadata": {"finalizers": ["a.io/4", "a.io/2"]}},
        {"metadata.finalizers": ["a.io/4", "a.io/1", "a.io/2", "a.io/3"]},
    ),
    Case(
        "plain values are taken out of a list",
        CONFIG_MAPS,
        FINALIZERS,
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.io/2", "a.io/9"]}},
        {"metadata.finalizers": ["a.io/1", "a.io/3"]},
    ),
    Case(
        "plain values are put in order",
        CONFIG_MAPS,
        FINALIZERS,
        {"metadata": {"$setElementOrder/finalizers": ["a.io/3", "a.io/2", "a.io/1"]}},
        {"metadata.finalizers": ["a.io/3", "a.io/2", "a.io/1"]},
    ),
    Case(
        "owners merge by uid",
        CONFIG_MAPS,
        {"metadata": {"ownerReferences": [{**OWNER, "name": "a", "uid": "1"}]}},
        {"metadata": {"ownerReferences": [{**OWNER, "name": "b", "uid": "2"}]}},
        {"metadata.ownerReferences.*.name": ["b", "a"]},
    ),
    Case(
        "retained keys drop the others",
        DEPLOYMENTS,
        VOLUMES,
        in_pod(
            volumes=[
                {
                    "name": "v",
                    "$retainKeys": ["name", "configMap"],
                    "configMap": {"name": "d"},
                }
            ]
        ),
        {
            f"{POD}.volumes.*.name": ["v", "w"],
            f"{POD}.volumes.*.emptyDir": [None, None],
            f"{POD}.volumes.*.configMap.name": ["d", "c"],
        },
    ),
    Case(
        "a strategy changes with what it retains",
        DEPLOYMENTS,
        deployment(),
        {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        {"spec.strategy": {"type": "Recreate"}},
    ),
    Case(
        "a map nobody had is taken as it is",
        DEPLOYMENTS,
        deployment(),
        in_pod(securityContext={"runAsUser": 5, "runAsGroup": None}),
        {f"{POD}.securityContext": {"runAsUser": 5}},
    ),
    Case(
        "an empty patch changes nothing",
        DEPLOYMENTS,
        deployment(hostAliases=[{"ip": "10.0.0.1", "hostnames": ["a"]}]),
        in_pod(hostAliases=[], containers=[]),
        {f"{POD}.hostAliases.*.ip": ["10.0.0.1"], f"{POD}.containers.*.name": ["a"]},
    ),
    Case(
        "a directive in what is new is left out",
        DEPLOYMENTS,
        deployment(),
        in_pod(nodeSelector={"$patch": "replace", "a": "b"}),
        {f"{POD}.nodeSelector": None},
    ),
    Case(
        "null deletes a list",
        DEPLOYMENTS,
        VOLUMES,
        in_pod(volumes=None),
        {f"{POD}.volumes": None},
    ),
    Case(
        "topology constraints merge by key",
        DEPLOYMENTS,
        deployment(
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}
            ]
        ),
        in_pod(topologySpreadConstraints=[{"topologyKey": "z", "maxSkew": 2}]),
        {f"{POD}.topologySpreadConstraints.*.maxSkew": [2]},
    ),
    Case(
        "an item needs its key",
        DEPLOYMENTS,
        deployment(),
        in_pod(containers=[{"image": "b:1"}]),
        code=500,
        message=f"map: map[image:b:1] {NO_KEY}",
    ),
    Case(
        "keys that are set must be retained",
        DEPLOYMENTS,
        deployment(),
        {"spec": {"strategy": {"$retainKeys": ["rollingUpdate"], "type": "Recreate"}}},
        code=400,
        message="invalid patch format of retainKeys",
    ),
    Case(
        "retained keys are a list",
        DEPLOYMENTS,
        deployment(),
        {"spec": {"strategy": {"$retainKeys": "type", "type": "Recreate"}}},
        code=400,
        message="invalid patch format of retainKeys",
    ),
    Case(
        "an order names a list",
        DEPLOYMENTS,
        deployment(),
        in_pod(**{"$setElementOrder": [{"name": "a"}]}),
        code=400,
        message="invalid patch format of setElementOrder list",
    ),
    Case(
        "an order has what is patched",
        DEPLOYMENTS,
        deployment(),
        in_pod(
            **{"$setElementOrder/containers": [{"name": "b"}]},
            containers=[{"name": "a", "image": "a:2"}],
        ),
        code=500,
        message="The order in patch list:\n[map[image:a:2 name:a]]\n doesn't match "
        "$setElementOrder list:\n[map[name:b]]\n",
    ),
    Case(
        "a removal names a list",
        CONFIG_MAPS,
        FINALIZERS,
        {"metadata": {"$deleteFromPrimitiveList": ["a.io/1"]}},
        code=400,
        message="invalid patch format of primitive list",
    ),
    Case(
        "a directive is a known one",
        CONFIG_MAPS,
        {"data": {"a": "1"}},
        {"data": {"$patch": "explode"}},
        code=500,
        message="unknown patch type: explode in map: map[$patch:explode]",
    ),
    Case(
        "items are all of one type",
        CONFIG_MAPS,
        FINALIZERS,
        {"metadata": {"finalizers": [["a.io/1"]]}},
        code=500,
        message="list element types are not identical: [[a.io/1 a.io/2 a.io/3] [[a.io/1]]]",
    ),
    Case(
        "a field nobody knows cannot be merged",
        CONFIG_MAPS,
        {"data": {"a": "1"}},
        {"metadata": {"labels": {"a": "b"}}, "$setElementOrder/nope": ["a"]},
        code=500,
        message='unable to find api field in struct ConfigMap for the json field "nope"',
    ),
    Case(
        "the result has the right types",
        CONFIG_MAPS,
        {"data": {"a": "1"}},
        {"data": {"a": {"b": "c"}}},
        code=422,
    ),
]
