"""The official Python client against `quintant up`: a client nobody here wrote, over HTTPS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

from scenarios.up import up

WATCH_SECONDS = 20
"""For a watch that should have ended by itself long before."""
GROUP, VERSION, PLURAL = "example.com", "v1", "widgets"
_NUMBERS = count()


@dataclass(frozen=True)
class Session:
    """A client, and a namespace that nobody else uses."""

    api: client.ApiClient
    namespace: str

    @property
    def core(self) -> Any:
        return self.calls(client.CoreV1Api)

    @property
    def apps(self) -> Any:
        return self.calls(client.AppsV1Api)

    @property
    def custom(self) -> Any:
        return self.calls(client.CustomObjectsApi)

    def calls(self, group: type[Any]) -> Any:
        """The calls of a group; by its types everything could be absent everywhere."""
        return group(self.api)

    def bearing(self, token: str) -> client.ApiClient:
        """Somebody with a token instead of our certificate."""
        theirs = client.Configuration()
        theirs.host = self.api.configuration.host
        theirs.ssl_ca_cert = self.api.configuration.ssl_ca_cert
        theirs.api_key = {"authorization": f"Bearer {token}"}
        return client.ApiClient(theirs)


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with up(tmp_path_factory.mktemp("up")) as path:
        yield path


@pytest.fixture
def session(kubeconfig: Path) -> Iterator[Session]:
    with config.new_client_from_config(str(kubeconfig)) as api:
        namespace = f"n{next(_NUMBERS)}"
        metadata = client.V1ObjectMeta(name=namespace)
        client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=metadata))
        yield Session(api, namespace)


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name=name, labels=labels), data=data or None
    )


def deployment(name: str) -> client.V1Deployment:
    labels = {"app": name}
    containers = [client.V1Container(name="main", image="image:1")]
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=containers)
    )
    spec = client.V1DeploymentSpec(
        replicas=0, selector=client.V1LabelSelector(match_labels=labels), template=template
    )
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


def names(listed: Any) -> list[str]:
    return [item.metadata.name for item in listed.items]


def test_objects_are_created_read_replaced_and_deleted(session: Session) -> None:
    core, space = session.core, session.namespace
    created = core.create_namespaced_config_map(space, config_map("a", k="v"))
    assert core.read_namespaced_config_map("a", space).to_dict() == created.to_dict()
    created.data["k"] = "w"
    assert core.replace_namespaced_config_map("a", space, created).data == {"k": "w"}
    with pytest.raises(ApiException) as stale:
        core.replace_namespaced_config_map("a", space, created)
    assert (stale.value.status, stale.value.reason) == (409, "Conflict")
    assert core.delete_namespaced_config_map("a", space)["status"] == "Success"
    with pytest.raises(ApiException) as gone:
        core.read_namespaced_config_map("a", space)
    assert gone.value.status == 404


def test_lists_are_selected_and_paged(session: Session) -> None:
    core, space = session.core, session.namespace
    for name in ("a", "b", "c"):
        core.create_namespaced_config_map(space, config_map(name, {"app": name}))
    selected = core.list_namespaced_config_map(space, label_selector="app in (a, c)")
    assert names(selected) == ["a", "c"]
    named = core.list_namespaced_config_map(space, field_selector="metadata.name=b")
    assert names(named) == ["b"]
    first = core.list_namespaced_config_map(space, limit=2, label_selector="app")
    rest = core.list_namespaced_config_map(
        space, limit=2, label_selector="app", _continue=first.metadata._continue
    )
    assert (names(first), names(rest)) == (["a", "b"], ["c"])


def test_every_kind_of_patch_is_taken(session: Session) -> None:
    core, apps, space = session.core, session.apps, session.namespace
    core.create_namespaced_config_map(space, config_map("a", a="1"))
    operations = [{"op": "replace", "path": "/data/a", "value": "2"}]
    assert core.patch_namespaced_config_map("a", space, operations).data == {"a": "2"}
    merged = core.patch_namespaced_config_map(
        "a", space, {"data": {"a": None, "b": "3"}}, _content_type="application/merge-patch+json"
    )
    assert merged.data == {"b": "3"}
    apps.create_namespaced_deployment(space, deployment("d"))
    extra = {"containers": [{"name": "extra", "image": "image:2"}]}
    patch = {"spec": {"template": {"spec": extra}}}
    strategic = apps.patch_namespaced_deployment("d", space, patch)
    assert [each.name for each in strategic.spec.template.spec.containers] == ["extra", "main"]
    applied = core.patch_namespaced_config_map(
        "a",
        space,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"c": "4"}},
        field_manager="me",
        _content_type="application/apply-patch+yaml",
    )
    assert applied.data == {"b": "3", "c": "4"}
    owners = {entry.manager: entry.operation for entry in applied.metadata.managed_fields}
    assert owners["me"] == "Apply"


def test_an_apply_meets_its_conflicts(session: Session) -> None:
    core, space = session.core, session.namespace

    def apply(manager: str, value: str, **more: Any) -> Any:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        return core.patch_namespaced_config_map(
            "a",
            space,
            {**body, "data": {"k": value}},
            field_manager=manager,
            _content_type="application/apply-patch+yaml",
            **more,
        )

    assert apply("one", "1").data == {"k": "1"}
    with pytest.raises(ApiException) as contested:
        apply("two", "2")
    assert contested.value.status == 409
    assert 'conflict with \\"one\\": .data.k' in contested.value.body
    assert apply("two", "2", force=True).data == {"k": "2"}


def test_a_collection_is_deleted_by_selector(session: Session) -> None:
    core, space = session.core, session.namespace
    for name in ("a", "b", "c"):
        core.create_namespaced_config_map(space, config_map(name, {"app": name}))
    core.delete_collection_namespaced_config_map(space, label_selector="app!=b,app")
    assert names(core.list_namespaced_config_map(space, label_selector="app")) == ["b"]


def test_a_watch_goes_on_from_a_list_as_informers_do(session: Session) -> None:
    core, space = session.core, session.namespace
    core.create_namespaced_config_map(space, config_map("a", {"app": "x"}))
    listed = core.list_namespaced_config_map(space, label_selector="app=x")
    core.patch_namespaced_config_map("a", space, {"data": {"k": "v"}})
    core.create_namespaced_config_map(space, config_map("b", {"app": "x"}))
    core.create_namespaced_config_map(space, config_map("other", {"app": "y"}))
    core.delete_namespaced_config_map("a", space)
    seen: list[tuple[str, str]] = []
    follow = watch.Watch()
    for event in follow.stream(
        core.list_namespaced_config_map,
        space,
        label_selector="app=x",
        resource_version=listed.metadata.resource_version,
        timeout_seconds=WATCH_SECONDS,
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 3:
            follow.stop()
    assert seen == [("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_a_watch_begins_with_what_there_is_and_ends_in_time(session: Session) -> None:
    core, space = session.core, session.namespace
    core.create_namespaced_config_map(space, config_map("a", {"app": "x"}))
    stream = watch.Watch().stream(
        core.list_namespaced_config_map, space, label_selector="app=x", timeout_seconds=1
    )
    assert [(event["type"], event["object"].metadata.name) for event in stream] == [("ADDED", "a")]


def test_the_status_of_a_pod_is_written_apart(session: Session) -> None:
    core, space = session.core, session.namespace
    spec = client.V1PodSpec(
        containers=[client.V1Container(name="main", image="image:1")], node_name="nowhere"
    )
    metadata = client.V1ObjectMeta(name="p")
    pod = core.create_namespaced_pod(space, client.V1Pod(metadata=metadata, spec=spec))
    assert pod.status.phase == "Pending"
    ready = {"type": "Ready", "status": "True"}
    patch = {"status": {"phase": "Running", "conditions": [ready]}}
    written = core.patch_namespaced_pod_status("p", space, patch)
    assert (written.status.phase, written.status.conditions[-1].type) == ("Running", "Ready")
    assert core.read_namespaced_pod_status("p", space).status.phase == "Running"
    dying = core.delete_namespaced_pod("p", space, grace_period_seconds=5)
    assert dying.metadata.deletion_grace_period_seconds == 5
    core.delete_namespaced_pod("p", space, grace_period_seconds=0)
    with pytest.raises(ApiException):
        core.read_namespaced_pod("p", space)


def test_deployments_are_scaled(session: Session) -> None:
    apps, space = session.apps, session.namespace
    apps.create_namespaced_deployment(space, deployment("d"))
    scaled = apps.patch_namespaced_deployment_scale("d", space, {"spec": {"replicas": 2}})
    assert (scaled.kind, scaled.spec.replicas) == ("Scale", 2)
    assert apps.read_namespaced_deployment("d", space).spec.replicas == 2


WIDGET = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": PLURAL, "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "maximum": 9, "default": 1},
                                    "replicas": {"type": "integer"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "phase": {"type": "string"},
                                    "replicas": {"type": "integer"},
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def widgets(session: Session) -> Session:
    """A session whose server has the custom resource."""
    definitions = session.calls(client.ApiextensionsV1Api)
    with suppress(ApiException):
        definitions.create_custom_resource_definition(WIDGET)
    found = definitions.read_custom_resource_definition(f"{PLURAL}.{GROUP}")
    assert {each.type: each.status for each in found.status.conditions}["Established"] == "True"
    return session


def widget(name: str, **spec: Any) -> dict[str, Any]:
    api_version = f"{GROUP}/{VERSION}"
    return {
        "apiVersion": api_version,
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_custom_objects_are_served_by_their_definition(widgets: Session) -> None:
    custom, at = widgets.custom, (GROUP, VERSION, widgets.namespace, PLURAL)
    created = custom.create_namespaced_custom_object(*at, widget("a", replicas=1))
    assert created["spec"] == {"size": 1, "replicas": 1}
    with pytest.raises(ApiException) as refused:
        custom.create_namespaced_custom_object(*at, widget("b", size=10))
    assert refused.value.status == 422
    merged = custom.patch_namespaced_custom_object(*at, "a", {"spec": {"size": 3}})
    assert merged["metadata"]["generation"] == 2
    custom.patch_namespaced_custom_object_status(*at, "a", {"status": {"phase": "Done"}})
    scale = {"spec": {"replicas": 4}}
    scaled = custom.patch_namespaced_custom_object_scale(*at, "a", scale)
    assert scaled["spec"] == {"replicas": 4}
    found = custom.get_namespaced_custom_object(*at, "a")
    assert (found["status"]["phase"], found["spec"]["replicas"]) == ("Done", 4)
    listed = custom.list_namespaced_custom_object(*at)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["a"]
    stream = watch.Watch().stream(custom.list_namespaced_custom_object, *at, timeout_seconds=1)
    assert [event["type"] for event in stream] == ["ADDED"]
    custom.delete_namespaced_custom_object(*at, "a")
    assert custom.list_namespaced_custom_object(*at)["items"] == []


def test_the_dynamic_client_finds_kinds_and_applies(widgets: Session) -> None:
    found = dynamic.DynamicClient(widgets.api).resources.get(
        api_version=f"{GROUP}/{VERSION}", kind="Widget"
    )
    applied = found.server_side_apply(
        namespace=widgets.namespace, body=widget("a", size=2), field_manager="me"
    )
    assert applied.spec.size == 2
    (item,) = found.get(namespace=widgets.namespace).items
    assert item.metadata.name == "a"
    found.delete(name="a", namespace=widgets.namespace)


def test_a_manifest_is_created_from_yaml(session: Session, tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: 'yes'}\n---\n"
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: v}\n"
    )
    utils.create_from_yaml(session.api, str(manifest), namespace=session.namespace)
    core = session.core
    assert core.read_namespaced_config_map("a", session.namespace).data == {"k": "yes"}
    assert core.read_namespaced_secret("s", session.namespace).data == {"k": "dg=="}


class _Won(Exception):
    """The election is over."""


def test_its_leader_election_takes_a_lease(kubeconfig: Path, session: Session) -> None:
    # Its lock is bound to the client that is there without asking for one.
    config.load_kube_config(str(kubeconfig))

    def lead() -> None:
        raise _Won

    election = electionconfig.Config(
        LeaseLock("leader", session.namespace, "me"),
        lease_duration=17,
        renew_deadline=15,
        retry_period=5,
        onstarted_leading=lead,
        onstopped_leading=None,
    )
    leaderelection.LeaderElection(election).acquire()
    lease = session.calls(client.CoordinationV1Api).read_namespaced_lease(
        "leader", session.namespace
    )
    assert lease.spec.holder_identity == "me"
    assert lease.spec.renew_time.tzinfo is not None


def test_a_lease_keeps_its_microseconds(session: Session) -> None:
    moment = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    spec = client.V1LeaseSpec(holder_identity="me", renew_time=moment)
    lease = client.V1Lease(metadata=client.V1ObjectMeta(name="l"), spec=spec)
    leases = session.calls(client.CoordinationV1Api)
    leases.create_namespaced_lease(session.namespace, lease)
    assert leases.read_namespaced_lease("l", session.namespace).spec.renew_time == moment


def test_a_service_account_may_do_what_its_role_says(session: Session) -> None:
    core, rbac = session.core, session.calls(client.RbacAuthorizationV1Api)
    space = session.namespace
    metadata = client.V1ObjectMeta(name="robot")
    core.create_namespaced_service_account(space, client.V1ServiceAccount(metadata=metadata))
    rule = client.V1PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["get", "list"])
    rbac.create_namespaced_role(space, client.V1Role(metadata=metadata, rules=[rule]))
    ref = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="robot")
    subject = client.RbacV1Subject(kind="ServiceAccount", name="robot", namespace=space)
    binding = client.V1RoleBinding(metadata=metadata, role_ref=ref, subjects=[subject])
    rbac.create_namespaced_role_binding(space, binding)
    request = client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600)
    )
    token = core.create_namespaced_service_account_token("robot", space, request).status.token
    with session.bearing(token) as api:
        robot = Session(api, space)
        assert "k" not in names(robot.core.list_namespaced_config_map(space))
        with pytest.raises(ApiException) as refused:
            robot.core.create_namespaced_config_map(space, config_map("a"))
        assert refused.value.status == 403
        attributes = client.V1ResourceAttributes(
            namespace=space, verb="delete", resource="configmaps"
        )
        asked = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        )
        review = robot.calls(client.AuthorizationV1Api).create_self_subject_access_review(asked)
        assert review.status.allowed is False
    reviewed = session.calls(client.AuthenticationV1Api).create_token_review(
        client.V1TokenReview(spec=client.V1TokenReviewSpec(token=token))
    )
    assert reviewed.status.user.username == f"system:serviceaccount:{space}:robot"


def test_a_wrong_token_is_nobody(session: Session) -> None:
    with session.bearing("wrong") as api, pytest.raises(ApiException) as refused:
        client.CoreV1Api(api).list_namespace()
    assert refused.value.status == 401


def test_events_are_told_and_selected(session: Session) -> None:
    involved = client.V1ObjectReference(kind="Pod", name="p", namespace=session.namespace)
    event = client.CoreV1Event(
        metadata=client.V1ObjectMeta(name="e"),
        involved_object=involved,
        reason="Tested",
        message="hello",
        type="Normal",
        # Its model of the newer group cannot do without.
        event_time=datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        reporting_component="test",
        reporting_instance="test-0",
        action="Test",
    )
    session.core.create_namespaced_event(session.namespace, event)
    found = session.core.list_namespaced_event(
        session.namespace, field_selector="involvedObject.name=p"
    )
    assert [item.message for item in found.items] == ["hello"]
    newer = session.calls(client.EventsV1Api).read_namespaced_event("e", session.namespace)
    assert (newer.note, newer.regarding.name) == ("hello", "p")


def test_versions_groups_and_resources_are_told(session: Session) -> None:
    assert session.calls(client.VersionApi).get_code().major == "1"
    groups = session.calls(client.ApisApi).get_api_versions().groups
    assert {"apps", "batch", "rbac.authorization.k8s.io"} <= {group.name for group in groups}
    resources = session.core.get_api_resources().resources
    assert {"pods", "pods/status", "serviceaccounts/token"} <= {each.name for each in resources}


def test_a_dry_run_leaves_nothing(session: Session) -> None:
    created = session.core.create_namespaced_config_map(
        session.namespace, config_map("a"), dry_run="All"
    )
    assert created.metadata.uid
    with pytest.raises(ApiException):
        session.core.read_namespaced_config_map("a", session.namespace)
