"""A program whose objects stand for something outside, and are held until that is gone."""

from __future__ import annotations

from typing import Annotated, Any

from quintant import Context, Custom, Manager, Model, ObjectMeta, resource
from quintant.api.meta import Condition
from quintant.core.schema.markers import list_map
from quintant.runtime.reconcile.finalizer import Cleanup
from quintant.runtime.source.predicates import Predicate

FINALIZER = "demo.dev/bucket"


class BucketSpec(Model):
    owner: str = ""


class BucketStatus(Model):
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()


@resource(group="demo.dev", version="v1", status=True)
class Bucket(Custom[BucketSpec, BucketStatus]):
    """A store outside the cluster."""


async def provision(bucket: Bucket, ctx: Context[Bucket]) -> None: ...


async def release(bucket: Bucket, ctx: Context[Bucket]) -> None: ...


def bucket_manager(
    cleanup: Cleanup[Bucket] = release,
    *,
    reconcile: Any = provision,
    when: Predicate[Bucket] | None = None,
) -> Manager:
    """A fresh manager of buckets."""
    manager = Manager("buckets")
    manager.controls(Bucket, when=when).finalize(FINALIZER, cleanup).reconcile(reconcile)
    return manager


def bucket(name: str, namespace: str = "default") -> Bucket:
    return Bucket(metadata=ObjectMeta(name=name, namespace=namespace), spec=BucketSpec(owner="Ada"))


manager = bucket_manager()
