"""What is known while a handler is called: which one it is, for what, and what it may add to."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from quintant.kopf.declare.handlers import Handler

current_handler: ContextVar[Handler | None] = ContextVar("current_handler", default=None)
current_cause: ContextVar[Any] = ContextVar("current_cause", default=None)
current_subregistry: ContextVar[list[Handler] | None] = ContextVar(
    "current_subregistry", default=None
)
"""Handlers that were declared within the one that is called."""
current_execution: ContextVar[Any] = ContextVar("current_execution", default=None)
"""What calls handlers, for those within the one that is called."""
current_events: ContextVar[Any] = ContextVar("current_events", default=None)
"""Where events about objects go."""
