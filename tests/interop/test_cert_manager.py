"""cert-manager, unmodified: issuers, certificates and their renewal, and a webhook over HTTPS.

Its three programs run on this machine beside `quintant up`, so that its webhook is registered by a
URL, as its chart does for a cluster whose API server reaches no Service.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from conformance.target import until
from foreign.catalogue import (
    CERT_MANAGER_CAINJECTOR,
    CERT_MANAGER_CONTROLLER,
    CERT_MANAGER_WEBHOOK,
)
from foreign.process import free_ports
from interop.cert_manager import definitions
from interop.conftest import Aloud
from interop.served import Served, provided, up
from unit.cluster.api import JsonObject

API = "cert-manager.io/v1"
HOOKS = "/apis/admissionregistration.k8s.io/v1"
HOST, LEAF = "localhost", "a.example.com"
AUTHORITY = "cert-manager-webhook-ca"
"""The Secret that its webhook keeps, and that its cainjector reads."""
REFUSED = 406
"""The code that its webhook answers with; an API server hands it on."""
WRONG: tuple[tuple[JsonObject, str], ...] = (
    (
        {"dnsNames": []},
        "at least one of commonName, dnsNames, uris ipAddresses, or emailAddresses must be set",
    ),
    ({"dnsNames": [LEAF], "duration": "1m"}, "certificate duration must be greater than 1h0m0s"),
    ({"dnsNames": [LEAF], "ipAddresses": ["256.0.0.1"]}, "invalid IP address"),
)


@pytest.fixture
def programs(aloud: Aloud) -> list[Path]:
    wanted = (CERT_MANAGER_CONTROLLER, CERT_MANAGER_CAINJECTOR, CERT_MANAGER_WEBHOOK)
    return provided(wanted, aloud)


@pytest_asyncio.fixture
async def served(programs: list[Path], tmp_path: Path) -> AsyncIterator[Served]:
    """A cluster with cert-manager's definitions, its programs at work, and its webhook asked."""
    controller, cainjector, webhook = programs
    manifests = tmp_path / "definitions"
    manifests.mkdir()
    for name, text in definitions(CERT_MANAGER_CONTROLLER.source(os.environ)):
        (manifests / f"{name}.yaml").write_text(text)
    secure, health, metrics = free_ports(3)
    async with up(tmp_path, "--no-node") as found:
        await found.apply("-f", manifests)
        for kind, path in (("Validating", "validate"), ("Mutating", "mutate")):
            plural = f"{kind.lower()}webhookconfigurations"
            await found.target.create(f"{HOOKS}/{plural}", registration(secure, path))
        common = (f"--kubeconfig={found.kubeconfig}",)
        alone = (*common, "--leader-elect=false")
        serving = (
            f"--secure-port={secure}",
            f"--healthz-port={health}",
            "--dynamic-serving-ca-secret-namespace=default",
            f"--dynamic-serving-ca-secret-name={AUTHORITY}",
            f"--dynamic-serving-dns-names={HOST}",
        )
        with ExitStack() as stack:
            stack.enter_context(found.running("webhook", webhook, *common, *serving))
            stack.enter_context(found.running("cainjector", cainjector, *alone))
            listening = f"--metrics-listen-address=127.0.0.1:{metrics}"
            stack.enter_context(found.running("controller", controller, *alone, listening))
            await issuer(found, "self", {"selfSigned": {}})
            yield found


def registration(port: int, path: str) -> JsonObject:
    """As its chart has it, but for the address; nobody is believed until cainjector says whom."""
    rule = {
        "apiGroups": ["cert-manager.io", "acme.cert-manager.io"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["*/*"],
    }
    hook = {
        "name": "webhook.cert-manager.io",
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "matchPolicy": "Equivalent",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "clientConfig": {"url": f"https://{HOST}:{port}/{path}"},
    }
    annotations = {"cert-manager.io/inject-ca-from-secret": f"default/{AUTHORITY}"}
    metadata = {"name": "cert-manager-webhook", "annotations": annotations}
    return {"metadata": metadata, "webhooks": [hook]}


def named(kind: str, name: str, spec: JsonObject) -> JsonObject:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


async def issuer(served: Served, name: str, spec: JsonObject) -> None:
    """Create an issuer as soon as the webhook is believed, and wait until it is ready."""
    target, body = served.target, named("Issuer", name, spec)

    async def created() -> int:
        answer = await target.send("POST", target.path("issuers", api=API), body)
        return answer.status

    assert await until(created, lambda code: code == 201) == 201
    assert await ready(served, "issuers", name)


async def ready(served: Served, plural: str, name: str) -> bool:
    """If its controller says so of it in the end."""
    path = served.target.path(plural, name, API)

    async def said() -> bool:
        found = (await served.target.get(path)).get("status", {}).get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in found)

    return await until(said)


def certificate(name: str, issued_by: str, **spec: object) -> JsonObject:
    reference = {"name": issued_by, "kind": "Issuer"}
    return named("Certificate", name, {"secretName": name, "issuerRef": reference, **spec})


async def certify(served: Served, name: str, issued_by: str, **spec: object) -> None:
    target = served.target
    body = certificate(name, issued_by, **spec)
    await target.create(target.path("certificates", api=API), body)
    assert await ready(served, "certificates", name)


async def authority(served: Served) -> None:
    """An issuer whose own certificate is one of the issuer that has none."""
    await certify(served, "root", "self", isCA=True, commonName="root")
    await issuer(served, "ca", {"ca": {"secretName": "root"}})


async def kept(served: Served, name: str) -> tuple[x509.Certificate, x509.Certificate]:
    """The certificate of a Secret, and the one that it was signed with."""
    path = served.target.path("secrets", name)

    async def found() -> JsonObject:
        listed = await served.target.get(served.target.path("secrets"))
        names = [each["metadata"]["name"] for each in listed["items"]]
        data: JsonObject = (await served.target.get(path))["data"] if name in names else {}
        return data

    data = await until(found, lambda data: bool(data.get("tls.crt")))
    leaf, root = (
        x509.load_pem_x509_certificate(b64decode(data[key])) for key in ("tls.crt", "ca.crt")
    )
    return leaf, root


def verify(leaf: x509.Certificate, root: x509.Certificate) -> None:
    """Raise unless a client of the host would believe it."""
    policy = PolicyBuilder().store(Store([root]))
    policy.build_server_verifier(x509.DNSName(LEAF)).verify(leaf, [])


async def test_certificates_are_issued_that_clients_believe(served: Served) -> None:
    await authority(served)
    await certify(served, "leaf", "ca", dnsNames=[LEAF])
    leaf, root = await kept(served, "leaf")
    assert root == (await kept(served, "root"))[0]
    verify(leaf, root)


async def test_a_secret_that_is_gone_is_issued_again(served: Served) -> None:
    await authority(served)
    await certify(served, "leaf", "ca", dnsNames=[LEAF])
    before, _ = await kept(served, "leaf")
    await served.target.delete(served.target.path("secrets", "leaf"))
    after, root = await kept(served, "leaf")
    assert after.serial_number != before.serial_number
    verify(after, root)
    assert await ready(served, "certificates", "leaf")


@pytest.mark.parametrize(("spec", "refusal"), WRONG)
async def test_a_wrong_certificate_is_refused_in_the_words_of_its_webhook(
    served: Served, spec: JsonObject, refusal: str
) -> None:
    target = served.target
    path, body = target.path("certificates", api=API), certificate("wrong", "self", **spec)
    status = await target.ask("POST", path, body, REFUSED)
    assert status["message"].startswith(
        'admission webhook "webhook.cert-manager.io" denied the request: '
    )
    assert refusal in status["message"]


async def test_who_asked_for_a_certificate_is_written_by_its_webhook(served: Served) -> None:
    """What the API server told it of the user, as a patch."""
    await certify(served, "root", "self", isCA=True, commonName="root")
    listed = await served.target.get(served.target.path("certificaterequests", api=API))
    (request,) = listed["items"]
    assert "system:masters" in request["spec"]["groups"]
    assert request["spec"]["username"]
