"""A controller and its tests: one reconcile, a whole hour, a crash, and a server in trouble.

    python -m pytest examples/08_testing.py

No cluster is needed and no time passes: hours are virtual. Tests of your own import the controller
from where it is; everything else is as it is here.
"""

from datetime import datetime, timedelta

from quintant import Context, Custom, Manager, Model, Result, resource
from quintant.testing import InProcessCluster, kind, named, reconcile_once, verb, watch

pytest_plugins = ["quintant.testing.plugin"]  # the cluster fixture, and virtual time


class AlarmSpec(Model):
    seconds: int


class AlarmStatus(Model):
    rang: bool | None = None


@resource(group="demo.dev", version="v1", status=True)
class Alarm(Custom[AlarmSpec, AlarmStatus]):
    """Rings so many seconds after it was made."""


async def reconcile(alarm: Alarm, ctx: Context[Alarm]) -> Result | None:
    made = datetime.fromisoformat(alarm.metadata.creation_timestamp or "")
    left = made + timedelta(seconds=alarm.spec.seconds) - ctx.clock.now()
    if left > timedelta():
        return Result(after=left)
    await ctx.set_status(AlarmStatus(rang=True))
    return None


manager = Manager("alarm")
manager.controls(Alarm).reconcile(reconcile)


def alarm(seconds: int) -> Alarm:
    return Alarm(metadata=named("a"), spec=AlarmSpec(seconds=seconds))


def rang(alarm: Alarm) -> bool:
    return alarm.status is not None and alarm.status.rang is True


def test_an_alarm_that_is_due_rings_and_one_that_is_not_waits() -> None:
    assert reconcile_once(reconcile, alarm(0)).writes[0].body["status"] == {"rang": True}
    assert reconcile_once(reconcile, alarm(60)).result == Result(after=timedelta(seconds=60))


async def test_an_alarm_rings_after_an_hour_and_not_before(cluster: InProcessCluster) -> None:
    await cluster.run(manager)
    await cluster.create(alarm(3600))
    await cluster.advance(3599)
    assert not rang(await cluster.get(Alarm, "a"))
    await cluster.eventually(Alarm, "a", until=rang, within=2)


async def test_an_alarm_rings_although_the_controller_crashes(cluster: InProcessCluster) -> None:
    await cluster.crash(await cluster.run(manager))
    await cluster.create(alarm(5))
    await cluster.run(manager)
    await cluster.eventually(Alarm, "a", until=rang, within=6)


async def test_an_alarm_rings_although_the_server_is_in_trouble(cluster: InProcessCluster) -> None:
    await cluster.run(manager)
    cluster.faults.answer(503, when=verb("patch") & kind(Alarm, sub="status"), times=3)
    cluster.faults.cut(watch(Alarm))
    await cluster.create(alarm(5))
    await cluster.eventually(Alarm, "a", until=rang, within=60)
