"""WithImpersonation: requests as another user, and the permissions that takes.

There are several ways to be allowed. The narrow ones name what may be done in whose name, verb by
verb (`impersonate-on:user-info:list` on pods and `impersonate:user-info` on the user); the old one
is the verb `impersonate` and good for everything. All that apply are tried, the one that last
worked for the same user first; the first refusal is the one that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from quintant.cluster.apiserver.authorization.rbac import forbidden_request
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.names import dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.status import StatusError, bad_request
from quintant.cluster.apiserver.meta.user import (
    ANONYMOUS,
    AUTHENTICATED,
    MASTERS,
    UNAUTHENTICATED,
    User,
    service_account,
)

GROUP = "authentication.k8s.io"
NODE_NAME = "authentication.kubernetes.io/node-name"
NODES = "system:nodes"
SEPARATOR = "\n"
"""Between the values of a header that came several times: no value can hold it."""
_PREFIX = "impersonate-extra-"
_NODE = "system:node:"


def requested_user(headers: Mapping[str, str]) -> User | None:
    """Whom a request wants to be taken for, as it says; 400 if it names no user."""
    groups = _values(headers, "impersonate-group")
    extra = {
        unquote(name.removeprefix(_PREFIX)): _values(headers, name)
        for name in headers
        if name.startswith(_PREFIX)
    }
    name, uid = headers.get("impersonate-user", ""), headers.get("impersonate-uid", "")
    if name:
        return User(name, groups, uid, extra)
    if uid or groups or extra:
        raise bad_request(
            f"requested {_spelled(uid, groups, extra)} without impersonating a user name"
        )
    return None


class Impersonation:
    """Turns users into others; `allow` raises 403 for what a user may not do."""

    def __init__(self, allow: Callable[[User, RequestInfo], None]) -> None:
        self._allow = allow
        self._last: dict[str, ImpersonationMode] = {}

    def impersonate(self, user: User, other: User, request_info: RequestInfo) -> User:
        """The other user, complete with groups; 403 if the user may not act as that one."""
        refusal: StatusError | None = None
        for mode in self._modes(user, other):
            try:
                self._check(mode, user, other, request_info)
            except StatusError as error:
                refusal = refusal or error
            else:
                self._last[user.name] = mode
                return _complete(other, mode)
        assert refusal is not None, "the old way always applies"
        raise refusal

    def _modes(self, user: User, other: User) -> list[ImpersonationMode]:
        last = self._last.get(user.name)
        ordered = sorted(MODES, key=lambda mode: mode is not last)
        return [mode for mode in ordered if mode.applies(other, user)]

    def _check(
        self, mode: ImpersonationMode, user: User, other: User, request_info: RequestInfo
    ) -> None:
        for attributes in mode.attributes(other, request_info):
            if mode.name and attributes == mode.group(MASTERS):
                raise forbidden_request(
                    user, attributes, "impersonating the system:masters group is not allowed"
                )
            self._allow(user, attributes)


class ImpersonationMode(Struct, frozen=True):
    """A way to act as somebody else; the one without a name is the old one."""

    name: str
    applies: Callable[[User, User], bool]
    """Whether the way exists for the wanted and the asking user."""
    any_node: bool = False
    """The permission is asked for all nodes: which one it is, is known from elsewhere."""

    def attributes(self, other: User, request_info: RequestInfo) -> Iterator[RequestInfo]:
        """What must be allowed."""
        if self.name:
            yield replace(request_info, verb=f"impersonate-on:{self.name}:{request_info.verb}")
        yield self._user(other)
        if other.uid:
            yield self._attributes(GROUP, "uids", other.uid)
        for name in other.groups:
            yield self.group(name)
        for key, values in other.extra.items():
            for value in values:
                yield replace(self._attributes(GROUP, "userextras", value), subresource=key)

    def group(self, name: str) -> RequestInfo:
        """What must be allowed for one to belong to a group."""
        return self._attributes(GROUP if self.name else "", "groups", name)

    def _attributes(self, group: str, resource: str, name: str) -> RequestInfo:
        verb = f"impersonate:{self.name}" if self.name else "impersonate"
        return RequestInfo(verb, "", group=group, resource=resource, name=name)

    def _user(self, other: User) -> RequestInfo:
        attributes = self._attributes(GROUP if self.name else "", "users", other.name)
        node, account = _node(other), other.account
        if self.name and node:
            return replace(attributes, resource="nodes", name="*" if self.any_node else node)
        if account:
            namespace, name = account
            return replace(attributes, resource="serviceaccounts", namespace=namespace, name=name)
        return attributes


def _own_node(other: User, user: User) -> bool:
    node_names = user.extra.get(NODE_NAME, ())
    return _some_node(other, user) and user.account is not None and node_names == (_node(other),)


def _some_node(other: User, user: User) -> bool:
    return _only_name(other) and bool(_node(other))


def _some_account(other: User, user: User) -> bool:
    return _only_name(other) and other.account is not None


def _somebody(other: User, user: User) -> bool:
    """Not what has a way of its own."""
    return not (_node(other) or other.account)


def _anybody(other: User, user: User) -> bool:
    return True


MODES = (
    ImpersonationMode("associated-node", _own_node, any_node=True),
    ImpersonationMode("arbitrary-node", _some_node),
    ImpersonationMode("serviceaccount", _some_account),
    ImpersonationMode("user-info", _somebody),
    ImpersonationMode("", _anybody),
)


def _complete(other: User, mode: ImpersonationMode) -> User:
    if mode.name and _node(other):
        other = replace(other, groups=(NODES,))
    elif other.account and not other.groups:
        other = replace(other, groups=service_account(*other.account).groups)
    if other.name == ANONYMOUS.name:
        return other.among(UNAUTHENTICATED)
    return other if UNAUTHENTICATED in other.groups else other.among(AUTHENTICATED)


def _only_name(other: User) -> bool:
    return not (other.uid or other.groups or other.extra)


def _node(user: User) -> str:
    name = user.name.removeprefix(_NODE)
    return "" if name == user.name or dns1123_subdomain_errors(name) else name


def _values(headers: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(headers[name].split(SEPARATOR)) if name in headers else ()


def _spelled(uid: str, groups: tuple[str, ...], extra: Mapping[str, tuple[str, ...]]) -> str:
    """A user without a name, as Go prints the structure."""
    values = {key: _strings(texts) for key, texts in sorted(extra.items())}
    entries = ", ".join(f"{quoted(key)}:{texts}" for key, texts in values.items())
    return (
        f'&user.DefaultInfo{{Name:"", UID:{quoted(uid)}, Groups:{_strings(groups)}, '
        f"Extra:map[string][]string{f'{{{entries}}}' if extra else '(nil)'}}}"
    )


def _strings(texts: tuple[str, ...]) -> str:
    listed = ", ".join(quoted(text) for text in texts)
    return f"[]string{{{listed}}}" if texts else "[]string(nil)"
