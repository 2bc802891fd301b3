"""The Provider protocol of the infra operator, spoken to an Infrastructure Manager in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quintant.operators.infra.observed.answers import (
    Estimate,
    InfrastructureState,
    MachineDetails,
    ProviderError,
)
from quintant.operators.infra.observed.marks import InfrastructureMarks, marks_in_name, marks_of
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.plan.diff import machine_counts
from quintant.operators.infra.remote.errors import answer_failure
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.simulate.remotes.infrastructures import ModelledInfrastructure

if TYPE_CHECKING:
    from quintant.testing.simulate.remotes.provider import ModelledProvider


@dataclass(frozen=True)
class ModelledAccess:
    """The Provider protocol, for one session."""

    model: ModelledProvider
    session: ProviderSession

    def _in(self, name: str, *, listing: bool = False) -> str:
        return self.model.check_in(name, self.session, listing=listing)

    async def version(self) -> str:
        if self.model.faults.down or self.model.faults.page is not None:
            self._in("version")
        return "2.0.0"

    async def check(self) -> None:
        self._in("list", listing=True)

    async def check_cloud(self) -> None:
        self._in("images", listing=True)
        self.model.check_cloud(self.session)

    async def plan(self, template: Mapping[str, Any]) -> Estimate:
        self._in("plan", listing=True)
        self.model.check_cloud(self.session)
        if self.model.faults.plan_fail is not None:
            status, message = self.model.faults.plan_fail
            body = f'{{"message": "{message}", "code": {status}}}'.encode()
            raise ProviderError(answer_failure(status, body, changes=False))
        counts = machine_counts(template) or {}
        return Estimate(sum(each or 0 for each in counts.values()), ("c",))

    async def create(self, template: Mapping[str, Any]) -> str:
        owner = self._in("create", listing=True)
        made = await self.model.create(self.session, owner, dict(template))
        if self.model.faults.wrong_id:
            made, self.model.faults.wrong_id = self.model.faults.wrong_id, ""
        if self.model.faults.lost_answers:
            self.model.faults.lost_answers -= 1
            raise self.model.failure(FaultMode.LOST)
        return made

    async def find(
        self, wanted: InfrastructureMarks, besides: Collection[str] = ()
    ) -> tuple[str, ...]:
        owner = self._in("list", listing=True)
        return tuple(
            each.id
            for each in self.model.infrastructures.values()
            if each.owner == owner and each.id not in besides and _marks(each).match(wanted)
        )

    async def marks(self, id: str) -> InfrastructureMarks:
        return _marks(self.model.held(id, self._in("template"), "template"))

    async def template(self, id: str) -> Mapping[str, Any] | None:
        found = self.model.held(id, self._in("template"), "template")
        return None if found.template_lost else found.template

    async def update(self, id: str, template: Mapping[str, Any], seconds: float) -> None:
        await self.model.update(id, self._in("update"), dict(template))

    async def reconfigure(self, id: str) -> None:
        await self.model.reconfigure(id, self._in("reconfigure"))

    async def replace(self, id: str, machines: Collection[str]) -> None:
        await self.model.replace(id, self._in("replace"), tuple(machines))

    async def delete(self, id: str, *, force: bool = False) -> None:
        await self.model.delete(id, self._in("delete"), force, wait=False)

    async def delete_now(self, id: str, seconds: float, *, force: bool = False) -> None:
        await self.model.delete(id, self._in("delete"), force, wait=True)

    async def state(self, id: str) -> InfrastructureState:
        return self.model.word_of(self.model.held(id, self._in("state"), "state"))

    async def outputs(self, id: str) -> Mapping[str, Any]:
        found = self.model.held(id, self._in("outputs"), "outputs")
        if found.template_lost:
            lost = b"'outputs' infrastructure property is not valid in this infrastructure"
            body = b'{"message": "%b", "code": 403}' % lost
            raise ProviderError(answer_failure(403, body, changes=False))
        topology = found.template.get("topology_template", {})
        if self.model.faults.outputs_missing:
            return dict.fromkeys(topology.get("outputs", {}))
        return {
            name: _value(each.get("value"), topology, found)
            for name, each in topology.get("outputs", {}).items()
        }

    async def machines(self, id: str, ids: Collection[str]) -> Mapping[str, MachineDetails]:
        found = self.model.held(id, self._in("machines"), "machines")
        return {
            each.id: MachineDetails(f"{each.node}-{each.id}", (f"10.0.0.{int(each.id) + 1}",))
            for each in found.machines.values()
            if each.id in ids
        }

    async def log(self, id: str) -> str:
        return self.model.held(id, self._in("log"), "log").log


def _marks(infrastructure: ModelledInfrastructure) -> InfrastructureMarks:
    marks = marks_of(infrastructure.template)
    return marks_in_name(marks.name) if infrastructure.template_lost else marks


def _value(value: Any, topology: Mapping[str, Any], infrastructure: ModelledInfrastructure) -> Any:
    """What an output comes to."""
    if isinstance(value, dict) and list(value) == ["get_input"]:
        return topology.get("inputs", {}).get(value["get_input"], {}).get("default")
    if isinstance(value, dict) and list(value) == ["concat"]:
        return "".join(str(_value(each, topology, infrastructure)) for each in value["concat"])
    if isinstance(value, dict) and list(value) == ["get_attribute"]:
        node = value["get_attribute"][0]
        for machine in infrastructure.machines.values():
            if machine.node == node and machine.state == "configured":
                return f"10.0.0.{int(machine.id) + 1}"
        return None
    return value
