"""A kind to review, the reviews an API server would send about it, and a client without a world."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.core.object import Custom, Model, Opaque
from quintant.core.resource import resource
from quintant.runtime.cache.client import Client

UID = "705ab4f5-6393-11e8-b7cc-42010a800002"


class Limits(Model):
    rate: int = 0
    burst: int | None = None


class Port(Model):
    name: str
    number: int = 0


class GateSpec(Model):
    host: str = ""
    limits: Limits | None = None
    defaults: Limits = Limits()
    ports: tuple[Port, ...] = ()
    tags: tuple[str, ...] = ()
    selector: Mapping[str, str] = {}
    limits_by_user: Mapping[str, Limits] = {}
    containers: tuple[Opaque, ...] = ()
    extra: Opaque | None = None


class GateStatus(Model):
    phase: str = ""


@resource(group="gates.example.com", version="v1", status=True)
class Gate(Custom[GateSpec, GateStatus]):
    """A gate."""


def document(spec: Any = None, **metadata: Any) -> dict[str, Any]:
    """A gate as the API server has it, with fields that the type does not know."""
    return {
        "apiVersion": "gates.example.com/v1",
        "kind": "Gate",
        "metadata": {"name": "north", "namespace": "town", "managedFields": [{}], **metadata},
        "spec": {"host": "a.example.com", "colour": "red"} if spec is None else spec,
    }


def admission(
    new: Any = None, old: Any = None, *, version: str = "admission.k8s.io/v1", **request: Any
) -> bytes:
    """An AdmissionReview; its operation is what the given objects suggest."""
    operation = "UPDATE" if old and new else "CREATE" if new else "DELETE"
    about = {
        "uid": UID,
        "kind": {"group": "gates.example.com", "version": "v1", "kind": "Gate"},
        "resource": {"group": "gates.example.com", "version": "v1", "resource": "gates"},
        "name": "north",
        "namespace": "town",
        "operation": operation,
        "userInfo": {"username": "ann", "groups": ["g"], "extra": {"scopes": ["a", "b"]}},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        "options": {"kind": "CreateOptions"},
        **request,
    }
    return msgspec.json.encode({"apiVersion": version, "kind": "AdmissionReview", "request": about})


def conversion(objects: list[Any], desired: str, **request: Any) -> bytes:
    """A ConversionReview; a real API server adds an empty response, as here."""
    about = {"uid": UID, "desiredAPIVersion": desired, "objects": objects, **request}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    empty: dict[str, Any] = {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}
    return msgspec.json.encode({**head, "request": about, "response": empty})


class Empty:
    """An API server that has nothing."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        return ApiResponse(404, b"{}")

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError


def client() -> Client:
    """A client of that server."""
    return Client(Rest(InProcessTransport(Empty())))


def authorities(bundle: bytes) -> list[bytes]:
    """The single certificates of a bundle."""
    end = b"-----END CERTIFICATE-----\n"
    return [part + end for part in bundle.split(end)[:-1]]
