"""How many calls may be in flight: as many as the server takes, found out by asking more.

Doubles with each full round until the first refusal, then grows by one a round; a refusal takes a
fifth off, once for all calls that were in flight together, and makes everybody pause. This is how
TCP shares a line (additive increase, multiplicative decrease; Jacobson 1988).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator

_START = 4.0
_SHRINK = 0.8


class Window:
    """Places for calls in flight, in [1, limit].

    Args:
        limit: Places at most.
    """

    def __init__(self, limit: int) -> None:
        """Start small."""
        self.limit = limit
        self.size = min(_START, float(limit))
        self.in_flight = 0
        self._climbing = True
        self._resume_at = 0.0
        self._shrunk_at = float("-inf")
        self._room = asyncio.Event()
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def place(self) -> AsyncGenerator[float]:
        """Wait for a place and hold it; leaving without an exception lets the window grow.

        Yields:
            When the place was taken, to be handed to `refuse`.
        """
        await self._enter()
        try:
            yield time.monotonic()
            self._grow()
        finally:
            self.in_flight -= 1
            self._room.set()

    def refuse(self, started: float, pause_seconds: float) -> None:
        """Note a refusal: shrink, and let nobody start before the pause is over.

        A call that had started before the last shrink says nothing about the window since.
        """
        now = time.monotonic()
        self._climbing = False
        self._resume_at = max(self._resume_at, now + pause_seconds)
        if started > self._shrunk_at:
            self._shrunk_at = now
            self.size = max(1.0, self.size * _SHRINK)

    async def _enter(self) -> None:
        while True:
            pause = self._resume_at - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            elif self.in_flight < int(self.size):
                self.in_flight += 1
                return
            else:
                await self._wait_for_room()

    async def _wait_for_room(self) -> None:
        self._room.clear()
        self._waiting += 1
        try:
            await self._room.wait()
        finally:
            self._waiting -= 1

    def _grow(self) -> None:
        # A window that is not used up says nothing about what the server would take.
        if self._waiting or self.in_flight >= int(self.size):
            step = 1.0 if self._climbing else 1.0 / self.size
            self.size = min(float(self.limit), self.size + step)
