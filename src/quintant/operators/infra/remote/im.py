"""The client of an Infrastructure Manager, over its REST API.

Every call carries the credentials of the provider and of the cloud: IM keeps none of the cloud's.
Answers have a size; what does not look like one of IM is a failure that passes. No call is repeated
here: whoever asks decides that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import msgspec

from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core import yaml
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, TransportError
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observe.answers import (
    ErrorClass,
    Estimate,
    InfrastructureState,
    InfrastructureWord,
    MachineDetails,
    ProviderError,
    tail_text,
)
from quintant.operators.infra.observe.session import ProviderSession
from quintant.operators.infra.remote.auth import authorization
from quintant.operators.infra.remote.errors import answer_failure, transport_failure, unusable
from quintant.operators.infra.remote.gate import Gate
from quintant.operators.infra.remote.im_answers import (
    created_id,
    details,
    document,
    estimate,
    inner,
    segment,
    uris,
)

LOG_BYTES = 64 * 1024
"""The end of a log that is read; a log may have megabytes."""
LOG_MOST = 16 * 1024 * 1024
_ROOT = "/infrastructures"
_JSON = {"accept": "application/json"}
_YAML = {"content-type": "text/yaml"}


class ImProvider:
    """One Infrastructure Manager, asked about one cloud."""

    def __init__(
        self, session: ProviderSession, transport: HttpTransport, gate: Gate, metrics: InfraMetrics
    ) -> None:
        self._session, self._transport, self._gate = session, transport, gate
        self._metrics = metrics

    async def version(self) -> str:
        answer = await self._ask("version", "GET", "/version", signed=False)
        found = document(answer)
        text = (
            found.get("version")
            if isinstance(found, dict)
            else answer.body.decode("ascii", "replace")
        )
        return str(text).strip().strip('"')[:64]

    async def check(self) -> None:
        uris(await self._ask("list", "GET", _ROOT))

    async def check_cloud(self) -> None:
        if self._session.cloud is not None and self._session.cloud.get("type") == "Dummy":
            return
        await self._ask("images", "GET", f"/clouds/{quote(self._session.cloud_id)}/images")

    async def plan(self, template: Mapping[str, Any]) -> Estimate:
        answer = await self._ask(
            "plan", "POST", _ROOT, {"dry_run": "true"}, template=template, long=True, changes=False
        )
        return estimate(answer)

    async def create(self, template: Mapping[str, Any]) -> str:
        answer = await self._ask("create", "POST", _ROOT, {"async": "true"}, template=template)
        found = answer.headers.get("infid") or created_id(answer)
        if not found:
            raise ProviderError(replace(unusable("the id of an infrastructure"), applied=None))
        return found

    async def find(self, token: str) -> tuple[str, ...]:
        needle, hits = token.encode(), []
        for id in await self._ids():
            try:
                if needle in await self._marked(id):
                    hits.append(id)
            except ProviderError as error:
                if error.failure.kind is not ErrorClass.NOT_FOUND:
                    raise
        return tuple(hits)

    async def template(self, id: str) -> Mapping[str, Any] | None:
        try:
            answer = await self._ask("template", "GET", f"{_of(id)}/tosca")
        except ProviderError as error:
            if error.failure.kind is ErrorClass.REJECTED:
                return None
            raise
        found = document(answer)
        text = found.get("tosca") if isinstance(found, dict) else answer.body.decode()
        try:
            sent = yaml.load(str(text), "the template")
        except ConfigError:
            return None
        return sent if isinstance(sent, dict) else None

    async def update(self, id: str, template: Mapping[str, Any], seconds: float) -> None:
        await self._ask("update", "POST", _of(id), template=template, seconds=seconds, long=True)

    async def reconfigure(self, id: str) -> None:
        await self._ask("reconfigure", "PUT", f"{_of(id)}/reconfigure")

    async def replace(self, id: str, machines: Collection[str]) -> None:
        listed = ",".join(quote(each) for each in machines)
        await self._ask("replace", "DELETE", f"{_of(id)}/vms/{listed}", {"context": "false"})

    async def delete(self, id: str, *, force: bool = False) -> None:
        await self._ask("delete", "DELETE", _of(id), {"async": "true"} | _forced(force))

    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        await self._ask("delete", "DELETE", _of(id), _forced(force), seconds=seconds, long=True)

    async def state(self, id: str) -> InfrastructureState:
        found = inner(await self._ask("state", "GET", f"{_of(id)}/state"), "state")
        word, machines = found.get("state"), found.get("vm_states")
        try:
            known = InfrastructureWord(word)
        except ValueError:
            raise ProviderError(unusable(f"the state of {id}")) from None
        listed = machines if isinstance(machines, dict) else {}
        return InfrastructureState(known, {str(key): str(value) for key, value in listed.items()})

    async def outputs(self, id: str) -> Mapping[str, Any]:
        return inner(await self._ask("outputs", "GET", f"{_of(id)}/outputs"), "outputs")

    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        found = {}
        for machine in sorted(ids):
            try:
                answer = await self._ask("machine", "GET", f"{_of(id)}/vms/{quote(machine)}")
            except ProviderError as error:
                if error.failure.kind is not ErrorClass.NOT_FOUND:
                    raise
            else:
                found[machine] = details(document(answer))
        return found

    async def log(self, id: str) -> str:
        call = self._call("GET", f"{_of(id)}/contmsg", {}, {"accept": "text/plain"}, None, None)
        kept, total = b"", 0
        async with self._gate.passage():
            try:
                async with self._transport.stream(call) as answer:
                    if answer.status != 200:
                        return ""
                    async for chunk in answer.chunks:
                        kept, total = (kept + chunk)[-LOG_BYTES:], total + len(chunk)
                        if total > LOG_MOST:
                            break
            except TransportError:
                return ""
        return tail_text(kept.decode("utf-8", "replace"))

    async def _ids(self) -> list[str]:
        return [segment(uri) for uri in uris(await self._ask("list", "GET", _ROOT))]

    async def _marked(self, id: str) -> bytes:
        """What holds our marks: the template, or what is left of it after IM crashed."""
        try:
            return (await self._ask("template", "GET", f"{_of(id)}/tosca")).body
        except ProviderError as error:
            if error.failure.kind is not ErrorClass.REJECTED:
                raise
        return (await self._ask("radl", "GET", f"{_of(id)}/radl")).body

    async def _ask(
        self,
        name: str,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        template: Mapping[str, Any] | None = None,
        signed: bool = True,
        seconds: float | None = None,
        long: bool = False,
        changes: bool | None = None,
    ) -> ApiResponse:
        """The answer to a call, if it is a success; ProviderError says what it is else."""
        body = msgspec.json.encode(template) if template is not None else None
        headers = _JSON | (_YAML if body is not None else {})
        call = self._call(method, path, query or {}, headers, body, seconds, signed=signed)
        changing = method != "GET" if changes is None else changes
        began, code = monotonic(), "error"
        try:
            async with self._gate.passage(long=long):
                try:
                    answer = await self._transport.request(call)
                except TransportError as error:
                    raise ProviderError(transport_failure(error, changes=changing)) from None
                code = str(answer.status)
                if answer.status != 200:
                    raise ProviderError(
                        answer_failure(answer.status, answer.body, changes=changing)
                    )
                return answer
        finally:
            self._metrics.requested(name, code, monotonic() - began)

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float | None,
        *,
        signed: bool = True,
    ) -> ApiRequest:
        if signed:
            headers = {**headers, "authorization": authorization(self._session)}
        return ApiRequest(
            method, path, query, headers, body, timeout=seconds or self._session.timeout
        )


def _of(id: str) -> str:
    return f"{_ROOT}/{quote(id, safe='')}"


def _forced(force: bool) -> dict[str, str]:
    return {"force": "true"} if force else {}
