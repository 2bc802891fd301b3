"""How a kubelet starts a program here: in a session of its own, and no longer than we live."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process as Child

from quintant.cluster.kubelet.process.protocols import Launch, ProgramNotFound, StartError
from quintant.die_with_parent import die_with_parent

OUTPUT_SECONDS = 2.0
"""How long the output of a program that ended may still be held open by something it started."""


async def spawn(
    launch: Launch, stdin: int, stdout: int, stderr: int, *, terminal: bool = False
) -> Child:
    """Start a program in a session of its own, on a `terminal` if stdin is one; or StartError."""
    try:
        return await asyncio.create_subprocess_exec(
            *die_with_parent(launch.argv, terminal=terminal),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=launch.cwd,
            env=launch.env,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ProgramNotFound(f'exec: "{launch.argv[0]}": executable file not found') from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise StartError(f'exec: "{launch.argv[0]}": {why}') from error
