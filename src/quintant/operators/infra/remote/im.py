"""The client of an Infrastructure Manager, over its REST API.

Every call carries the credentials of the provider and of the cloud: IM keeps none of the cloud's.
Answers have a size; what does not look like one of IM is a failure that passes. No call is repeated
here: the caller decides that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from quintant.client.transport import Transport
from quintant.core.clock import monotonic
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import (
    ErrorClass,
    Estimate,
    InfrastructureState,
    MachineDetails,
    ProviderError,
    tail_text,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks, marks_in_name, marks_of
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.errors import (
    NO_MACHINE,
    TEMPLATE_LOST,
    UNUSABLE,
    unusable,
)
from quintant.operators.infra.remote.gate import Gate, Lane
from quintant.operators.infra.remote.im_answers import (
    created_id,
    details,
    document,
    estimate,
    inner,
    radl_name,
    segment,
    sent_template,
    state_of,
    uris,
    usable_id,
    version_text,
)
from quintant.operators.infra.remote.im_requests import ImRequests

_ROOT = "/infrastructures"
_DRY_RUN = {"dry_run": "true"}


class ImProvider:
    """One Infrastructure Manager, asked about one cloud."""

    def __init__(
        self, session: ProviderSession, transport: Transport, gate: Gate, metrics: InfraMetrics
    ) -> None:
        self._session = session
        self._requests = ImRequests(session, transport, gate, metrics)
        self._ask = self._requests.ask

    async def version(self) -> str:
        answer = await self._ask("version", "GET", "/version", signed=False)
        return version_text(answer)

    async def check(self) -> None:
        uris(await self._ask("list", "GET", _ROOT))

    async def check_cloud(self) -> None:
        if self._session.cloud is not None and self._session.cloud.get("type") == "Dummy":
            return
        await self._ask("images", "GET", f"/clouds/{quote(self._session.cloud_id)}/images")

    async def plan(self, template: Mapping[str, Any]) -> Estimate:
        answer = await self._ask(
            "plan",
            "POST",
            _ROOT,
            {"dry_run": "true"},
            template=template,
            lane=Lane.DRY_RUN,
            changes=False,
        )
        return estimate(answer)

    async def create(self, template: Mapping[str, Any]) -> str:
        answer = await self._ask("create", "POST", _ROOT, {"async": "true"}, template=template)
        found = usable_id(answer.headers.get("infid", "")) or created_id(answer)
        if not found:
            raise ProviderError(replace(unusable("the id of an infrastructure"), applied=None))
        return found

    async def find(
        self, wanted: InfrastructureMarks, besides: Collection[str] = ()
    ) -> tuple[str, ...]:
        hits = []
        for id in await self._ids():
            if id in besides:
                continue
            try:
                if (await self.marks(id)).match(wanted):
                    hits.append(id)
            except ProviderError as error:
                if error.failure.kind is not ErrorClass.NOT_FOUND:
                    raise
        return tuple(hits)

    async def marks(self, id: str) -> InfrastructureMarks:
        try:
            template = await self.template(id)
        except ProviderError as error:
            if error.failure.reason != UNUSABLE:
                raise
            template = None  # somebody else's odd one ends no search: its name is left
        if template is not None:
            return marks_of(template)
        return marks_in_name(radl_name(await self._ask("radl", "GET", f"{_of(id)}/radl")))

    async def template(self, id: str) -> Mapping[str, Any] | None:
        try:
            answer = await self._ask("template", "GET", f"{_of(id)}/tosca")
        except ProviderError as error:
            if error.failure.reason == TEMPLATE_LOST:
                return None
            raise
        return sent_template(answer)

    async def update(self, id: str, template: Mapping[str, Any], seconds: float) -> None:
        await self._ask(
            "update", "POST", _of(id), template=template, seconds=seconds, lane=Lane.LONG
        )

    async def reconfigure(self, id: str) -> None:
        await self._ask("reconfigure", "PUT", f"{_of(id)}/reconfigure")

    async def replace(self, id: str, machines: Collection[str]) -> None:
        listed = ",".join(quote(each) for each in machines)
        await self._ask("replace", "DELETE", f"{_of(id)}/vms/{listed}", {"context": "false"})

    async def delete(self, id: str, *, force: bool = False) -> None:
        await self._ask("delete", "DELETE", _of(id), {"async": "true"} | _forced(force))

    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        await self._ask(
            "delete", "DELETE", _of(id), _forced(force), seconds=seconds, lane=Lane.LONG
        )

    async def state(self, id: str) -> InfrastructureState:
        found = inner(await self._ask("state", "GET", f"{_of(id)}/state"), "state")
        state = state_of(found)
        if state is None:
            raise ProviderError(unusable(f"the state of {id}"))
        return state

    async def outputs(self, id: str) -> Mapping[str, Any]:
        return inner(await self._ask("outputs", "GET", f"{_of(id)}/outputs"), "outputs")

    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        found: dict[str, MachineDetails] = {}
        # All of them together have the time of one answer: a look waits for them.
        end = monotonic() + self._session.timeout
        for machine in sorted(ids):
            if (left := end - monotonic()) <= 0:
                break
            path = f"{_of(id)}/vms/{quote(machine)}"
            try:
                answer = await self._ask("machine", "GET", path, seconds=left)
            except ProviderError as error:
                if error.failure.reason == NO_MACHINE:
                    continue
                if found:
                    break
                raise
            found[machine] = details(document(answer))
        return found

    async def log(self, id: str) -> str:
        return tail_text(await self._requests.tail(f"{_of(id)}/contmsg"))

    async def _ids(self) -> list[str]:
        ids = [segment(uri) for uri in uris(await self._ask("list", "GET", _ROOT))]
        if "" in ids:
            raise ProviderError(unusable("a list of infrastructures"))
        return ids


def _of(id: str) -> str:
    return f"{_ROOT}/{quote(id, safe='')}"


def _forced(force: bool) -> dict[str, str]:
    return {"force": "true"} if force else {}
