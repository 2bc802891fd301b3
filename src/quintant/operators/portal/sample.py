"""A web Service under a public URL, through two relays: every part a process of its own.

The relays have a certificate of an authority that is made here, a new one each time; tunnels trust
it. The look is a visitor's: a request over TLS to the public URL, through a relay and a
tunnel, answered by the web program.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
from datetime import timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from quintant.api.core import ConfigMap, Service
from quintant.core.clock import SystemClock
from quintant.keys.authority import Authority, Validity
from quintant.operators.portal.api import (
    DEFAULT_CLASS,
    GROUP,
    TOKEN_RELAYS,
    TOKEN_TYPE,
    VERSION,
    PortalExpose,
)
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.sample import Sample, SampleProgress, restricted
from quintant.version import QUINTANT

NAMESPACE = "portal-demo"
APP = "hello"
RELAYS = ("relay-a", "relay-b")
TLS_PORT, HTTP_PORT, ADMIN_PORT, WEB_PORT = 8443, 8080, 9809, 8080
_IMAGE = f"quintant:{QUINTANT}"
_TRUST, _KEYS = "relay-ca", "relay-tls"
_TOKEN, _TOKENS = "relay-token", "relay-tokens"
"""What a tunnel shows, and what relays know of it: in a real pod they listen to the world."""
# A demo does not last longer.
_LIFE = timedelta(days=30)
_LOOK_SECONDS = 5.0
_ANSWER_BYTES = 64 * 1024

Plain = dict[str, Any]


def _domain(relay: str) -> str:
    """Apps are found below this name."""
    return f"{relay}.{NAMESPACE}.svc.cluster.local"


def manifests() -> tuple[Plain, ...]:
    """Everything of the sample, with new keys."""
    now = SystemClock().now()
    term = Validity(now, now + _LIFE)
    authority = Authority.make("portal-demo", term)
    domains = [_domain(relay) for relay in RELAYS]
    pair = authority.serving([*domains, *(f"*.{each}" for each in domains)], term)
    keys = {"tls.crt": pair.certificate.reveal().decode(), "tls.key": pair.key.reveal().decode()}
    relays = [part for relay in RELAYS for part in _relay(relay)]
    token = secrets.token_urlsafe()
    return (
        _shown(token),
        _part("v1", "Secret", _TOKENS, stringData={"tokens.json": json.dumps(_known(token))}),
        _part("v1", "ConfigMap", _TRUST, data={"ca.crt": authority.certificate.decode()}),
        _part("v1", "Secret", _KEYS, type="kubernetes.io/tls", stringData=keys),
        *relays,
        _workload("web", {"image": _IMAGE, "args": ["agent", "echo", "--port", str(WEB_PORT)]}),
        _service("web", {"web": WEB_PORT}),
        _class(),
        _expose(),
    )


def _part(version: str, kind: str, name: str, **rest: Any) -> Plain:
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def _shown(token: str) -> Plain:
    """The token of the tunnels, and the relays that may see it."""
    secret = _part("v1", "Secret", _TOKEN, type=TOKEN_TYPE, stringData={"token": token})
    hosts = [f"{_domain(relay)}:{TLS_PORT}" for relay in RELAYS]
    secret["metadata"]["annotations"] = {TOKEN_RELAYS: ",".join(hosts)}
    return secret


def _known(token: str) -> Plain:
    """The list of tokens that relays are given: digests, and what each allows."""
    digest = sha256(token.encode()).hexdigest()
    return {"tokens": [{"sha256": digest, "subject": NAMESPACE, "names": [APP]}]}


def _relay(name: str) -> tuple[Plain, Plain]:
    own = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    container = {
        "image": _IMAGE,
        "args": [
            *("agent", "relay", "--listen", "$(POD_IP)", "--domain", _domain(name)),
            *("--tls-cert", "/keys/tls.crt", "--tls-key", "/keys/tls.key"),
            *("--auth", "token", "--tokens", "/tokens/tokens.json"),
        ],
        "env": [own],
        "volumeMounts": [
            {"name": "keys", "mountPath": "/keys"},
            {"name": "tokens", "mountPath": "/tokens"},
        ],
        # Tunnels that come too early wait ever longer before they try again.
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": ADMIN_PORT},
            "periodSeconds": 1,
        },
    }
    volumes = [
        {"name": "keys", "secret": {"secretName": _KEYS}},
        {"name": "tokens", "secret": {"secretName": _TOKENS}},
    ]
    ports = {"tls": TLS_PORT, "http": HTTP_PORT}
    return _workload(name, container, volumes=volumes), _service(name, ports)


def _workload(name: str, container: Plain, **pod: Any) -> Plain:
    labels = {"app": name}
    spec = restricted({"containers": [{"name": name, **container}], **pod})
    return _part(
        "apps/v1",
        "Deployment",
        name,
        spec={
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    )


def _service(name: str, ports: dict[str, int]) -> Plain:
    listed = [{"name": each, "port": port} for each, port in ports.items()]
    return _part("v1", "Service", name, spec={"selector": {"app": name}, "ports": listed})


def _class() -> Plain:
    meta = {"name": "default", "annotations": {DEFAULT_CLASS: "true"}}
    spec = {"replicas": 2, "size": "small"}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "TunnelClass",
        "metadata": meta,
        "spec": spec,
    }


def _expose() -> Plain:
    targets = [
        {
            "name": relay,
            "url": f"wss://{_domain(relay)}:{TLS_PORT}/relay",
            "caConfigMapRef": {"name": _TRUST},
            "authSecretRef": {"name": _TOKEN, "key": "token"},
        }
        for relay in RELAYS
    ]
    app = {"name": APP, "service": {"name": "web", "port": WEB_PORT}}
    spec = {"app": app, "relay": {"targets": targets}}
    return _part(f"{GROUP}/{VERSION}", "PortalExpose", APP, spec=spec)


async def _look(client: Client) -> SampleProgress:
    expose = await client.find(PortalExpose, APP, NAMESPACE, live=True)
    if expose is None or expose.status is None:
        return SampleProgress(False, "no PortalExpose yet")
    if expose.status.phase != "Ready":
        return SampleProgress(False, f"PortalExpose {APP} is {expose.status.phase}")
    answer = await visit(client, expose.status.public_url)
    return SampleProgress(" 200 " in answer, f"{expose.status.public_url} answers {answer}")


async def visit(client: Client, url: str) -> str:
    """The first line of the answer to a visitor of the public URL, through the first relay."""
    relay = await client.find(Service, RELAYS[0], NAMESPACE, live=True)
    trust = await client.find(ConfigMap, _TRUST, NAMESPACE, live=True)
    if relay is None or trust is None:
        return "nothing: a relay is missing"
    context = ssl.create_default_context(cadata=trust.data["ca.crt"])
    host = urlsplit(url).hostname or ""
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            return await _ask(relay.spec.cluster_ip, host, context)
    except (OSError, TimeoutError) as error:
        return f"nothing: {error}"


async def _ask(address: str, host: str, context: ssl.SSLContext) -> str:
    reader, writer = await asyncio.open_connection(
        address, TLS_PORT, ssl=context, server_hostname=host
    )
    try:
        writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read(_ANSWER_BYTES)
    finally:
        # A relay that is busy says goodbye late, or never: nothing is left to wait for.
        writer.transport.abort()
    return answer.decode("utf-8", "replace").partition("\r\n")[0]


_URL = f"https://{APP}.{_domain(RELAYS[0])}:{TLS_PORT}/"
SAMPLE = Sample(
    NAMESPACE,
    manifests(),
    _look,
    (
        f"kubectl -n {NAMESPACE} get portalexposes,pods",
        f"kubectl -n {NAMESPACE} get configmap {_TRUST} -o jsonpath='{{.data.ca\\.crt}}' > ca.crt",
        f"curl --cacert ca.crt --connect-to ::$(kubectl -n {NAMESPACE} get service {RELAYS[0]} "
        f"-o jsonpath='{{.spec.clusterIP}}'): {_URL}",
        f"kubectl -n {NAMESPACE} scale deployment {RELAYS[1]} --replicas=0",
    ),
)
