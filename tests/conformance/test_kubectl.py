"""What people do with kubectl, on both servers, with every kubectl there is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from conformance.conftest import SERVERS
from conformance.kubectl import Kubectl, programs
from envtest import RealCluster
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster
from quintant.core.address import BindAddress
from unit.cluster.certificates import certificate_request

PROGRAMS = programs()
pytestmark = pytest.mark.skipif(not PROGRAMS, reason="there is no kubectl")
APP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - {name: a, image: "one:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
      - {name: b, image: side}
"""
CHANGED = APP.replace("one:1", "one:2").replace(', {name: B, value: "2"}', "")
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: boats, kind: Boat, singular: boat, shortNames: [SHORT], categories: [SHORTs]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.crew, statusReplicasPath: .status.crew}
    additionalPrinterColumns:
    - {name: Crew, type: integer, jsonPath: .spec.crew}
    - {name: Sail, type: string, jsonPath: .spec.sail, priority: 1}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [crew]
            properties:
              crew: {type: integer, description: How many sail it.}
              sail: {type: string, default: white}
          status: {type: object, properties: {crew: {type: integer}}}
"""
REQUEST = """
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: %s}
spec:
  request: %s
  signerName: example.com/signer
  expirationSeconds: 600
  usages: [client auth]
"""
BOAT = '{"apiVersion":"GROUP/v1","kind":"Boat","metadata":{"name":"a"},"spec":{"crew":2}}'


@pytest_asyncio.fixture(params=SERVERS)
async def kubeconfig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Path]:
    if request.param == "real":
        cluster: RealCluster = request.getfixturevalue("real_cluster")
        yield Path(cluster.kubeconfig)
        return
    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as embedded:
        path = tmp_path / "kubeconfig"
        path.write_bytes(embedded.kubeconfig.reveal())
        yield path


@pytest_asyncio.fixture(params=PROGRAMS, ids=[f"kubectl{at}" for at in range(len(PROGRAMS))])
async def kubectl(
    request: pytest.FixtureRequest, kubeconfig: Path, tmp_path: Path
) -> AsyncIterator[Kubectl]:
    """A kubectl in a namespace of its own, made by itself."""
    found = Kubectl(request.param, kubeconfig, tmp_path / "cache", f"check-{uuid4().hex[:8]}")
    await found("create", "namespace", found.namespace)
    yield found
    await found("delete", "namespace", found.namespace, "--wait=false")


async def value(kubectl: Kubectl, what: str, path: str) -> str:
    return await kubectl("get", what, "-o", f"jsonpath={{{path}}}")


async def test_objects_are_made_from_words(kubectl: Kubectl) -> None:
    assert (
        await kubectl("create", "configmap", "a", "--from-literal=k=v") == "configmap/a created\n"
    )
    await kubectl("create", "secret", "generic", "s", "--from-literal=k=v")
    await kubectl("create", "deployment", "d", "--image=one", "--replicas=2")
    await kubectl("create", "serviceaccount", "me")
    await kubectl("create", "role", "r", "--verb=get", "--resource=pods")
    await kubectl("create", "rolebinding", "rb", "--role=r", "--user=eve")
    await kubectl("create", "job", "j", "--image=one", "--", "true")
    await kubectl("run", "p", "--image=one")
    assert await value(kubectl, "cm/a", ".data.k") == "v"
    assert await value(kubectl, "deploy/d", ".spec.replicas") == "2"
    assert await value(kubectl, "job/j", ".spec.template.spec.containers[0].command") == '["true"]'
    again = await kubectl.run("create", "configmap", "a")
    assert again.code == 1
    assert again.err.endswith('configmaps "a" already exists\n')


async def test_get_shows_tables(kubectl: Kubectl) -> None:
    await kubectl("create", "deployment", "d", "--image=one", "--replicas=2")
    header, row = (await kubectl("get", "deploy")).splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["d", "0/2", "0", "0"]
    wide = (await kubectl("get", "deploy/d", "-o", "wide")).splitlines()
    assert wide[0].split()[5:] == ["CONTAINERS", "IMAGES", "SELECTOR"]
    assert wide[1].split()[5:] == ["one", "one", "app=d"]
    named = await kubectl("get", "deploy", "-o", "name", "--sort-by=.metadata.name")
    assert named == "deployment.apps/d\n"
    assert (await kubectl("get", "all", "--no-headers")).split()[0] == "deployment.apps/d"


async def test_get_writes_json_and_yaml(kubectl: Kubectl) -> None:
    await kubectl("create", "configmap", "a", "--from-literal=k=v")
    listed = json.loads(
        await kubectl("get", "cm", "--field-selector=metadata.name=a", "-o", "json")
    )
    assert [item["data"] for item in listed["items"]] == [{"k": "v"}]
    assert "kind: ConfigMap\n" in await kubectl("get", "cm/a", "-o", "yaml")
    missing = await kubectl.run("get", "cm", "nope")
    assert missing.err == 'Error from server (NotFound): configmaps "nope" not found\n'
    unknown = await kubectl.run("get", "nopes")
    assert unknown.err == 'error: the server doesn\'t have a resource type "nopes"\n'


async def test_get_goes_on_watching(kubectl: Kubectl) -> None:
    process = await kubectl.start("get", "cm", "-w", "-l", "watched", "--no-headers")
    assert process.stdout is not None
    try:
        await kubectl("create", "configmap", "a")
        await kubectl("label", "cm", "a", "watched=yes")
        async with asyncio.timeout(30):
            line = await process.stdout.readline()
        assert line.split()[:2] == [b"a", b"0"]
    finally:
        process.terminate()
        await process.communicate()


async def test_apply_changes_what_changed(kubectl: Kubectl) -> None:
    assert await kubectl("apply", "-f", "-", given=APP) == "deployment.apps/app created\n"
    assert await kubectl("apply", "-f", "-", given=APP) == "deployment.apps/app unchanged\n"
    await kubectl("scale", "deploy/app", "--replicas=3")
    found = await kubectl.run("diff", "-f", "-", given=CHANGED)
    assert found.code == 1
    assert "-        image: one:1\n" in found.out
    assert await kubectl("apply", "-f", "-", given=CHANGED) == "deployment.apps/app configured\n"
    assert await value(kubectl, "deploy/app", ".spec.template.spec.containers[*].image") == (
        "one:2 side"
    )
    env = await value(kubectl, "deploy/app", ".spec.template.spec.containers[0].env[*].name")
    assert env == "A"
    await kubectl("delete", "-f", "-", given=APP)
    assert (await kubectl.run("get", "deploy/app")).code == 1


async def test_apply_moves_to_the_server(kubectl: Kubectl) -> None:
    await kubectl("apply", "-f", "-", given=APP)
    moved = await kubectl("apply", "--server-side", "-f", "-", given=CHANGED)
    assert moved == "deployment.apps/app serverside-applied\n"
    managers = await value(kubectl, "deploy/app", ".metadata.managedFields[*].manager")
    assert "kubectl" in managers.split()
    other = CHANGED.replace("replicas: 1", "replicas: 5")
    refused = await kubectl.run(
        "apply", "--server-side", "--field-manager=other", "-f", "-", given=other
    )
    assert refused.code == 1
    assert 'conflict with "kubectl"' in refused.err
    forced = ("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-")
    await kubectl(*forced, given=other)
    assert await value(kubectl, "deploy/app", ".spec.replicas") == "5"


async def test_what_is_misspelt_is_refused(kubectl: Kubectl) -> None:
    wrong = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"dta":{"k":"v"}}'
    refused = await kubectl.run("apply", "-f", "-", given=wrong)
    assert refused.code == 1
    assert 'strict decoding error: unknown field "dta"' in refused.err
    warned = await kubectl.run("apply", "--validate=warn", "-f", "-", given=wrong)
    assert (warned.code, 'Warning: unknown field "dta"' in warned.err) == (0, True)


async def test_patches_labels_and_annotations(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", given=APP)
    strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"new"}]}}}}'
    assert await kubectl("patch", "deploy", "app", "-p", strategic) == (
        "deployment.apps/app patched\n"
    )
    images = await value(kubectl, "deploy/app", ".spec.template.spec.containers[*].image")
    assert images == "one:1 new"
    await kubectl("patch", "deploy", "app", "--type=merge", "-p", '{"spec":{"paused":true}}')
    remove = '[{"op":"remove","path":"/spec/paused"}]'
    await kubectl("patch", "deploy", "app", "--type=json", "-p", remove)
    assert await value(kubectl, "deploy/app", ".spec.paused") == ""
    assert await kubectl("label", "deploy", "app", "x=y") == "deployment.apps/app labeled\n"
    await kubectl("annotate", "deploy", "app", "note=1")
    await kubectl("label", "deploy", "app", "x-")
    assert await value(kubectl, "deploy/app", ".metadata.labels") == ""
    assert await value(kubectl, "deploy/app", ".metadata.annotations.note") == "1"
    await kubectl("set", "image", "deploy/app", "a=three")
    await kubectl("rollout", "restart", "deploy/app")
    replaced = await kubectl("replace", "-f", "-", given=APP)
    assert replaced == "deployment.apps/app replaced\n"


async def test_scale_and_wait(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", given=APP)
    assert await kubectl("scale", "deploy/app", "--replicas=4") == "deployment.apps/app scaled\n"
    condition = "--for=jsonpath={.spec.replicas}=4"
    assert await kubectl("wait", "deploy/app", condition, "--timeout=20s") == (
        "deployment.apps/app condition met\n"
    )
    status = await kubectl.run("rollout", "status", "deploy/app", "--timeout=1s")
    assert status.code == 1
    assert "Waiting for deployment spec update to be observed..." in status.out
    await kubectl("delete", "deploy/app")
    gone = await kubectl("get", "deploy", "--ignore-not-found")
    assert gone == ""


async def test_deletions_go_as_far_as_they_are_told(kubectl: Kubectl) -> None:
    for name in "abcde":
        await kubectl("create", "configmap", name)
    await kubectl("label", "cm", "a", "b", "x=y")
    await kubectl("delete", "cm", "a", "--dry-run=server")
    await kubectl("delete", "cm", "-l", "x=y")
    await kubectl("delete", "cm", "--field-selector=metadata.name=c")
    await kubectl("delete", "cm", "d", "--grace-period=0", "--force")
    named = ("get", "cm", "-o", "name", "--field-selector=metadata.name!=kube-root-ca.crt")
    assert await kubectl(*named) == "configmap/e\n"
    await kubectl("delete", "cm", "--all", "--now")
    assert (await kubectl.run("delete", "cm", "e")).err.endswith('configmaps "e" not found\n')
    await kubectl("delete", "cm", "e", "--ignore-not-found")
    await kubectl("create", "-f", "-", given=APP)
    await kubectl("delete", "deploy/app", "--cascade=orphan", "--wait=false")
    assert await value(kubectl, "deploy/app", ".metadata.finalizers") == '["orphan"]'
    release = '{"metadata":{"finalizers":null}}'
    await kubectl("patch", "deploy", "app", "--type=merge", "-p", release)
    await kubectl("wait", "deploy/app", "--for=delete", "--timeout=20s")


async def test_apply_remembers_what_it_applied(kubectl: Kubectl) -> None:
    rehearsed = await kubectl("apply", "--dry-run=server", "-f", "-", given=APP)
    assert rehearsed == "deployment.apps/app created (server dry run)\n"
    assert (await kubectl.run("get", "deploy/app")).code == 1
    await kubectl("apply", "-f", "-", given=APP)
    assert (await kubectl.run("diff", "-f", "-", given=APP)).code == 0
    last = json.loads(await kubectl("apply", "view-last-applied", "deploy/app", "-o", "json"))
    assert last["spec"]["replicas"] == 1
    await kubectl("apply", "-f", "-", given=APP.replace("  replicas: 1\n", ""))
    again = json.loads(await kubectl("apply", "view-last-applied", "deploy/app", "-o", "json"))
    assert "replicas" not in again["spec"]


async def test_logs_of_a_pod_that_runs_nowhere_are_empty(kubectl: Kubectl) -> None:
    await kubectl("run", "p", "--image=one")
    assert await kubectl("logs", "p") == ""
    wrong = await kubectl.run("logs", "p", "-c", "nope")
    assert (wrong.code, "container nope is not valid for pod p" in wrong.err) == (1, True)
    missing = await kubectl.run("logs", "q")
    assert (missing.code, 'pods "q" not found' in missing.err) == (1, True)


async def test_kinds_are_listed_and_explained(kubectl: Kubectl) -> None:
    rows = [line.split() for line in (await kubectl("api-resources")).splitlines()]
    assert ["configmaps", "cm", "v1", "true", "ConfigMap"] in rows
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in rows
    assert {"v1", "apps/v1"} <= set((await kubectl("api-versions")).split())
    explained = await kubectl("explain", "deployment.spec.template.spec.containers")
    assert "FIELD: containers <[]Container>" in explained
    assert "  image\t<string>\n" in explained
    deep = await kubectl("explain", "service.spec", "--recursive")
    assert "    targetPort\t<IntOrString>\n" in deep


async def test_describe_tells_of_objects_and_events(kubectl: Kubectl) -> None:
    await kubectl("create", "-f", "-", given=APP)
    told = await kubectl("describe", "deploy", "app")
    assert "Replicas:               1 desired | 0 updated | 0 total | 0 available" in told
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in told
    assert "    Image:      one:1\n" in told
    await kubectl("run", "p", "--image=one")
    assert re.search(r"^Status: +Pending$", await kubectl("describe", "pod", "p"), re.MULTILINE)


async def test_custom_resources_are_like_others(kubectl: Kubectl) -> None:
    group, short = f"{kubectl.namespace}.example", kubectl.namespace.replace("-", "")
    text = DEFINITION.replace("GROUP", group).replace("SHORT", short)
    await kubectl("apply", "-f", "-", given=text)
    await kubectl("wait", f"crd/boats.{group}", "--for=condition=Established", "--timeout=20s")
    boat = (
        f'{{"apiVersion":"{group}/v1","kind":"Boat","metadata":{{"name":"a"}},"spec":{{"crew":2}}}}'
    )
    await until_applied(kubectl, boat)
    assert [line.split() for line in (await kubectl("get", short)).splitlines()] == [
        ["NAME", "CREW"],
        ["a", "2"],
    ]
    wide = await kubectl("get", f"{short}s", "-o", "wide", "--no-headers")
    assert wide.split() == ["a", "2", "white"]
    await kubectl("apply", "-f", "-", given=boat.replace('"crew":2', '"crew":3'))
    await kubectl("scale", f"boats.{group}/a", "--replicas=7")
    await kubectl("patch", f"boats.{group}", "a", "--type=merge", "-p", '{"spec":{"sail":"red"}}')
    assert json.loads(await value(kubectl, f"boats.{group}/a", ".spec")) == {
        "crew": 7,
        "sail": "red",
    }
    status = ("--subresource=status", "--type=merge", "-p", '{"status":{"crew":1}}')
    await kubectl("patch", f"boats.{group}", "a", *status)
    explained = await kubectl("explain", f"boats.{group}", "--recursive")
    assert "    crew\t<integer> -required-\n" in explained
    await kubectl("delete", f"boats.{group}", "--all")
    await kubectl("delete", "crd", f"boats.{group}")


async def until_applied(kubectl: Kubectl, text: str) -> None:
    """Apply an object of a kind that is new: a real server's schemas follow a moment later."""
    async with asyncio.timeout(30):
        while (await kubectl.run("apply", "-f", "-", given=text)).code:
            pass


async def test_people_learn_what_they_may(kubectl: Kubectl) -> None:
    assert await kubectl("auth", "can-i", "create", "pods") == "yes\n"
    who = await kubectl.run("auth", "whoami")
    # Before 1.28 kubectl asks in versions that no server of today has.
    assert "system:masters" in who.out or "or authentication.k8s.io/v1beta1 API" in who.err
    denied = await kubectl.run("auth", "can-i", "create", "pods", "--as=nobody")
    assert (denied.code, denied.out) == (1, "no\n")
    await kubectl("create", "serviceaccount", "me")
    assert (await kubectl("create", "token", "me")).count(".") == 2


async def test_autoscale_watches_over_a_deployment(kubectl: Kubectl) -> None:
    await kubectl("apply", "-f", "-", given=APP)
    await kubectl("autoscale", "deployment", "app", "--min=2", "--max=5", "--cpu-percent=70")
    shown = (await kubectl("get", "hpa", "app", "--no-headers")).split()
    assert shown[:6] == ["app", "Deployment/app", "cpu:", "<unknown>/70%", "2", "5"]
    described = await kubectl("describe", "hpa", "app")
    assert "resource cpu on pods  (as a percentage of request):  <unknown> / 70%" in described


async def test_certificates_are_approved_and_denied(kubectl: Kubectl) -> None:
    names = {verb: f"{verb}.{kubectl.namespace}" for verb in ("approve", "deny")}
    for name in names.values():
        await kubectl("apply", "-f", "-", given=REQUEST % (name, certificate_request("alice")))
    shown = (await kubectl("get", "csr", names["approve"], "--no-headers")).split()
    assert shown[0] == names["approve"]
    assert shown[2] == "example.com/signer"
    assert shown[-2:] == ["10m", "Pending"]
    for verb, name in names.items():
        done = await kubectl("certificate", verb, name)
        word = "approved" if verb == "approve" else "denied"
        assert done == f"certificatesigningrequest.certificates.k8s.io/{name} {word}\n"
        last = (await kubectl("get", "csr", name, "--no-headers")).split()[-1]
        assert last == word.capitalize()
    assert "Status:" in await kubectl("describe", "csr", names["deny"])
    await kubectl("delete", "csr", *names.values())


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}
"""


async def test_applying_a_budget_again_changes_nothing_though_kubectl_says_so(
    kubectl: Kubectl,
) -> None:
    """A budget's selector is replaced as a whole: kubectl always finds something to send."""
    assert await kubectl("apply", "-f", "-", given=BUDGET) == (
        "poddisruptionbudget.policy/a created\n"
    )
    before = await value(kubectl, "pdb/a", ".metadata.resourceVersion")
    assert await kubectl("apply", "-f", "-", given=BUDGET) == (
        "poddisruptionbudget.policy/a configured\n"
    )
    assert await value(kubectl, "pdb/a", ".metadata.resourceVersion") == before
    assert await value(kubectl, "pdb/a", ".metadata.generation") == "1"
