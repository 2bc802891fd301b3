"""metav1.Status, StatusError: every error answer of the API server, in the words of a real one.

A `StatusError` (apierrors.StatusError) is raised anywhere in the server and becomes a Status
document at the edge. The functions here, and those of quintant.cluster.apiserver.meta.field_errors
for 422, are the only places that spell codes, reasons and texts: clients and tests compare them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.warnings import warning_headers
from quintant.core.errors import Cause
from quintant.core.resource import Resource

REQUEST_LIMIT = 3 * 1024 * 1024
"""Bytes of a request body: what a real server accepts."""


class StatusError(Exception):
    """A request the server refuses; `status` is its Status document."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.metadata = metadata
        self._warnings: tuple[str, ...] = ()

    def with_warnings(self, *texts: str, first: bool = False) -> Self:
        """The problem, with what its author should know beside it."""
        known = self._warnings
        self._warnings = (*texts, *known) if first else (*known, *texts)
        return self

    @property
    def status(self) -> dict[str, Any]:
        """The document, as plain data."""
        document: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": dict(self.metadata or {}),
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            document["reason"] = self.reason
        if self.details is not None:
            document["details"] = self.details
        return {**document, "code": self.code}

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with the document."""
        seconds = (self.details or {}).get("retryAfterSeconds")
        headers = {"retry-after": str(seconds)} if seconds else {}
        headers |= warning_headers(self._warnings)
        return headers | ({"x-content-type-options": "nosniff"} if self.code == 403 else {})

    def encode(self) -> bytes:
        """The document, as sent."""
        return msgspec.json.encode(self.status) + b"\n"


class PageNotFound(StatusError):
    """404 from the router itself, which knows no Status documents."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found")

    @property
    def headers(self) -> dict[str, str]:
        return {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}

    def encode(self) -> bytes:
        return b"404 page not found\n"


class KubeletError(StatusError):
    """500 in a kubelet's own words, which are no Status: clients of its streams expect a line."""

    def __init__(self, message: str) -> None:
        super().__init__(500, "InternalError", message)

    @property
    def headers(self) -> dict[str, str]:
        return {"content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff"}

    def encode(self) -> bytes:
        return f"{self.message}\n".encode()


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: Resource, name: str, message: str, *causes: Cause) -> StatusError:
    text = f"{resource.full_name} {quoted(name)} is forbidden: {message}"
    return StatusError(403, "Forbidden", text, _about(resource, name, causes=encode_causes(causes)))


def forbidden_path(user: str, verb: str, path: str, why: str = "") -> StatusError:
    text = f'forbidden: User "{user}" cannot {verb} path "{path}"{why}'
    return StatusError(403, "Forbidden", text, {})


def not_found(resource: Resource, name: str) -> StatusError:
    text = f"{resource.full_name} {quoted(name)} not found"
    return StatusError(404, "NotFound", text, _about(resource, name))


def invalid_name_parameter(name: str, why: str) -> StatusError:
    return bad_request(f"Name parameter invalid: {quoted(name)}: {why}")


def resource_not_found() -> StatusError:
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def method_not_supported() -> StatusError:
    text = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", text, {})


def service_unavailable(text: str) -> StatusError:
    return StatusError(503, "ServiceUnavailable", text, {})


def not_acceptable(accepted: Sequence[str]) -> StatusError:
    """406: none of the media types the client likes can be written."""
    text = f"406: Not Acceptable\n\nAvailable representations: {', '.join(accepted)}"
    return StatusError(406, "NotAcceptable", text, {})


def form_not_acceptable(accepted: Sequence[str]) -> StatusError:
    """406: the media type would do, but not the form of the object it asks for."""
    text = f"only the following media types are accepted: {', '.join(accepted)}"
    return StatusError(406, "NotAcceptable", text)


def object_not_acceptable(wanted: str, what: str) -> StatusError:
    """406: the object is not one that could be turned into the wanted form."""
    return StatusError(
        406, "NotAcceptable", f"you requested {wanted}, but the requested object {what}"
    )


def already_exists(resource: Resource, name: str, *, deleting: bool = False) -> StatusError:
    prefix = "object is being deleted: " if deleting else ""
    text = f'{prefix}{resource.full_name} "{name}" already exists'
    return StatusError(409, "AlreadyExists", text, _about(resource, name))


def no_unique_name(resource: Resource, name: str) -> StatusError:
    text = (
        f'{resource.full_name} "{name}" already exists, '
        "the server was not able to generate a unique name for the object"
    )
    return StatusError(409, "AlreadyExists", text, _about(resource, name, retryAfterSeconds=1))


def conflict(resource: Resource, name: str, message: str) -> StatusError:
    text = f'Operation cannot be fulfilled on {resource.full_name} "{name}": {message}'
    return StatusError(409, "Conflict", text, _about(resource, name))


def object_modified(resource: Resource, name: str) -> StatusError:
    return conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version "
        "and try again",
    )


def apply_conflict(message: str, causes: Sequence[Cause]) -> StatusError:
    """An apply that other managers' fields stand against."""
    return StatusError(409, "Conflict", message, {"causes": encode_causes(causes)})


def resource_expired(message: str, *, token: str = "") -> StatusError:
    return StatusError(410, "Expired", message, metadata={"continue": token} if token else None)


def request_entity_too_large() -> StatusError:
    text = f"Request entity too large: limit is {REQUEST_LIMIT}"
    return StatusError(413, "RequestEntityTooLarge", text)


def too_many_operations(count: int, limit: int) -> StatusError:
    text = (
        "Request entity too large: The allowed maximum operations in a JSON patch is "
        f"{limit}, got {count}"
    )
    return StatusError(413, "RequestEntityTooLarge", text)


def too_many_requests(message: str) -> StatusError:
    return StatusError(429, "TooManyRequests", message, {"retryAfterSeconds": 1})


def unknown_media_type() -> StatusError:
    """415 from the router itself, which looks at patches before anybody else does."""
    return StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def unsupported_media_type(accepted: Sequence[str]) -> StatusError:
    text = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(accepted)}"
    )
    return StatusError(415, "UnsupportedMediaType", text)


def unprocessable(message: str = "") -> StatusError:
    """422 for a patch that cannot be applied."""
    text = message or "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", text, {})


def internal_error(message: str) -> StatusError:
    text = f"Internal error occurred: {message}"
    return StatusError(500, "InternalError", text, {"causes": [{"message": message}]})


def unknown_error(message: str) -> StatusError:
    """500 without a reason: a real server answers some mistakes of clients so."""
    return StatusError(500, "", message)


def resource_version_too_large(requested: int, current: int) -> StatusError:
    text = f"Timeout: Too large resource version: {requested}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return StatusError(504, "Timeout", text, {"causes": [cause], "retryAfterSeconds": 1})


def _about(resource: Resource, name: str, **more: Any) -> dict[str, Any]:
    return omit_empty({"name": name, "group": resource.group, "kind": resource.plural, **more})


def omit_empty(details: Mapping[str, Any]) -> dict[str, Any]:
    """Details, without what there is nothing to say of."""
    return {key: value for key, value in details.items() if value}


def encode_causes(causes: Sequence[Cause]) -> list[dict[str, Any]]:
    """Causes as details list them."""
    return [omit_empty(msgspec.to_builtins(cause)) for cause in causes]
