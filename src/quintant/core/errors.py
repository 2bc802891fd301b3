"""Every error the runtime raises, as one tree.

    QuintantError
    ├── ConfigError            the set-up is wrong: kubeconfig, builder, kind, flag
    │   └── AddressInUse       another process listens there, for now
    ├── ApiError               the API server answered, and said no
    │   ├── BadRequest         400
    │   ├── Unauthorized       401
    │   ├── Forbidden          403
    │   ├── NotFound           404
    │   ├── AlreadyExists      409, reason AlreadyExists
    │   ├── Conflict           409, any other reason
    │   ├── Expired            410
    │   ├── Invalid            422
    │   ├── TooManyRequests    429
    │   └── ServerError        5xx
    ├── TransportError         no answer came
    │   ├── NoCredentials      nothing was sent: a token, key or plugin failed
    │   ├── ConnectError       the server cannot be reached
    │   ├── StreamStalled      a stream went silent
    │   └── DeadlineExceeded   the answer took too long; a write may have been applied
    ├── Undecodable            an object does not fit its type
    ├── NotWatched             a cached read of a kind that is not watched
    ├── NotSelected            a read or a write in a namespace that lost its label
    ├── NotEngaged             a cluster that a manager does not work in, or not any more
    ├── NotHeld                a cached read of what another member of a sharded manager holds
    ├── StaleCache             a cache is older than a reconcile may act on
    ├── NotLeader              a write after the lease ran out
    ├── LeadershipLost         the lease could not be kept; the process must exit
    └── Terminal               a reconciler's word that retrying is pointless

Classes carry data; the text is made from it. No request body and no header ever enters a text.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from quintant.wire.digits import parse_digits


class QuintantError(Exception):
    """The root: catch this to catch everything the runtime raises on purpose."""


def error_text(what: str, because: str = "", hint: str = "") -> str:
    """The text of an error shown to people: what failed, why, and what to try, a line each."""
    lines = (what, f"because: {because}" if because else "", f"try: {hint}" if hint else "")
    return "\n".join(line for line in lines if line)


def leaf_errors(error: BaseException) -> list[BaseException]:
    """The errors inside a group, or the error itself."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in leaf_errors(inner)]


class ConfigError(QuintantError):
    """The set-up is wrong; the text says what failed, why, and what to try."""

    def __init__(self, what: str, *, because: str = "", hint: str = "") -> None:
        self.what = what
        self.because = because
        self.hint = hint
        super().__init__(error_text(what, because, hint))


class AddressInUse(ConfigError):
    """Another process listens on an address: a mistake, or a process that is about to end."""


class Terminal(QuintantError):
    """Raise it from a reconciler when retrying cannot help until the object changes.

    The key is not queued again, the error is counted, and with `event=True` (the default) a
    Warning event with `reason` is written on the object.
    """

    def __init__(self, message: str, *, reason: str = "Failed", event: bool = True) -> None:
        super().__init__(message)
        self.reason = reason
        self.event = event


class NotWatched(QuintantError):
    """A cached read of a kind that no controller watches, or not in that namespace."""

    def __init__(self, kind: str, namespace: str = "") -> None:
        suffix = f" in namespace {namespace}" if namespace else ""
        declared = f"declare it with .watches({kind}) or .owns({kind})"
        wider = f"add it to Manager(namespaces=...) or to the namespaces of {kind}'s watch"
        advice = wider if namespace else declared
        super().__init__(
            f"no cache holds {kind}{suffix}: {advice}, or read it from the server with live=True"
        )
        self.kind = kind
        self.namespace = namespace


class NotHeld(QuintantError):
    """A cached read in a sharded manager of what other members hold: it is there, but not here."""

    def __init__(self, kind: str, key: str = "", *, namespace: str = "") -> None:
        suffix = f" {key}" if key else f"s in namespace {namespace}" if namespace else "s"
        part = "it" if key else "some of them"
        super().__init__(
            error_text(
                f"{kind}{suffix} cannot be read here",
                because=f"other members of the manager hold {part}, and this one only its own part",
                hint="read with live=True, list with held=True for what is held here, or have "
                f"every member hold all: .watches({kind}, shared=True)",
            )
        )
        self.kind = kind
        self.key = key
        self.namespace = namespace


class NotSelected(QuintantError):
    """A namespace is not among those that a manager follows any more: it lost its label."""

    def __init__(self, namespace: str) -> None:
        super().__init__(
            error_text(
                f"namespace {namespace} is not followed any more",
                because="it has lost the label by which namespaces are selected",
                hint="give it back, or leave what is there to whoever took it",
            )
        )
        self.namespace = namespace


class NotEngaged(QuintantError):
    """A cluster is none that a manager works in: it was never named, or it has left."""

    def __init__(self, cluster: str) -> None:
        super().__init__(
            error_text(
                f"cluster {cluster} is none of this manager's",
                because="no kubeconfig is there for it, or it is not used",
                hint="/readyz?verbose of this process, and its log, name the clusters it works in",
            )
        )
        self.cluster = cluster


class StaleCache(QuintantError):
    """A cache is older than a reconcile may act on; the reconcile is tried again later."""

    def __init__(self, kind: str, behind: float | None, within: float) -> None:
        age = "of unknown age" if behind is None else f"{behind:.0f} s behind the server"
        super().__init__(
            error_text(
                f"the cache of {kind} is {age}",
                because=f"this reconcile acts on views of the last {within:g} s only",
                hint="see whether the API server answers, and /readyz?verbose of this process",
            )
        )
        self.kind = kind
        self.behind = behind
        self.within = within


class NotLeader(QuintantError):
    """A write was refused because this replica can no longer prove that it holds the lease."""


class LeadershipLost(QuintantError):
    """This replica led and could not keep the lease: the process must exit, with code 1."""


class ObjectIdentity(Struct, frozen=True):
    """What is known of an object that could not be decoded."""

    kind: str
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0


class Undecodable(QuintantError):
    """An object from the server does not fit its Python type."""

    def __init__(self, identity: ObjectIdentity, why: str) -> None:
        key = f"{identity.namespace}/{identity.name}".strip("/") or "(no name)"
        super().__init__(f"cannot decode {identity.kind} {key}: {why}")
        self.identity = identity
        self.why = why


class TransportError(QuintantError):
    """No answer came from the server."""


class NoCredentials(TransportError):
    """Nothing was sent: a token, key or plugin failed; the text says why and what to try."""

    def __init__(self, what: str, *, because: str = "", hint: str = "") -> None:
        super().__init__(error_text(what, because, hint))


class ConnectError(TransportError):
    """The server cannot be reached; nothing was sent, or the connection broke before an answer."""


class StreamStalled(TransportError):
    """A stream sent nothing for longer than its idle limit."""


class DeadlineExceeded(TransportError):
    """The answer took too long. A write may or may not have been applied."""


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the reasons a server gives for refusing an object."""

    reason: str = ""
    message: str = ""
    field: str = ""


class Details(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a Status says about the object and the refusal."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Kubernetes' own error document (kind Status), as far as a client reads it."""

    status: str = ""
    message: str = ""
    reason: str = ""
    details: Details | None = None
    code: int = 0


class ApiError(QuintantError):
    """The server refused a request: `status`, `reason`, `message` and `details` are its words."""

    def __init__(self, status: Status, request: str = "") -> None:
        self.status: int = status.code
        self.reason: str = status.reason
        self.message: str = status.message
        self.details: Details = status.details or Details()
        self.request = request
        suffix = f" ({request})" if request else ""
        super().__init__(f"{self.status} {self.reason or 'Unknown'}: {self.message}{suffix}")

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The single complaints, each with the field it is about."""
        return self.details.causes


class BadRequest(ApiError):
    """400: the request makes no sense to the server."""


class Unauthorized(ApiError):
    """401: the credentials are missing, wrong or expired."""


class Forbidden(ApiError):
    """403: the role lacks a verb, or admission said no."""


class NotFound(ApiError):
    """404: no such object, or no such kind."""


class AlreadyExists(ApiError):
    """409 on create: the name is taken."""


class Conflict(ApiError):
    """409: the object changed since it was read, or another manager owns the field."""


class Expired(ApiError):
    """410: the resource version asked for is no longer in the server's history."""


class Invalid(ApiError):
    """422: validation failed; `causes` names the fields."""


class TooManyRequests(ApiError):
    """429: the server asks for patience; `retry_after` says how much, in seconds."""

    @property
    def retry_after(self) -> float:
        return float(self.details.retry_after_seconds)


class ServerError(ApiError):
    """5xx: the server itself failed."""


_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: Invalid,
    429: TooManyRequests,
}


def from_status(status: Status, request: str = "") -> ApiError:
    """The error that a Status document means."""
    if status.code == 409 and status.reason == "AlreadyExists":
        return AlreadyExists(status, request)
    fallback = ServerError if status.code >= 500 else ApiError
    return _BY_CODE.get(status.code, fallback)(status, request)


def from_reply(code: int, body: bytes, request: str = "", retry_after: str = "") -> ApiError:
    """The error that an HTTP answer means, whether or not its body is a Status document."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        status = Status(message=body[:200].decode("utf-8", "replace").strip())
    changes: dict[str, Any] = {"code": code}
    if (seconds := parse_digits(retry_after)) is not None:
        details = status.details or Details()
        changes["details"] = msgspec.structs.replace(details, retry_after_seconds=seconds)
    return from_status(msgspec.structs.replace(status, **changes), request)
