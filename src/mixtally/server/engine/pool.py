"""Pool of processes that open and seal chunks of envelopes in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

from mixtally.server.engine.envelope_worker import (
    EnvelopeWorker,
    OpenedEnvelopes,
    Secrets,
    call_worker,
    start_worker,
)
from mixtally.server.engine.workers import worker_pool

CHUNK = 1024
"""Number of messages in a chunk, which keeps a worker busy for about 20 ms."""
T = TypeVar("T")


class Pool:
    """Opens and seals envelopes in ``processes`` worker processes; 0 means in this process.

    It is a context manager. Leaving the context raises DataError if a worker was killed.
    """

    def __init__(self, secrets: Secrets, processes: int) -> None:
        self._processes, self.worker = processes, EnvelopeWorker(secrets)
        self._pool: ProcessPoolExecutor | None = None
        self._stack = ExitStack()
        if processes:
            self._pool = self._stack.enter_context(worker_pool(processes, start_worker, secrets))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def open_chunks(
        self, part: int, chunks: Iterable[bytes], size: int, expected: int
    ) -> Iterator[OpenedEnvelopes]:
        """Yield the contents of the envelopes of each chunk."""
        return self.run(EnvelopeWorker.open, part, chunks, size, expected)

    def seal_chunks(self, part: int, chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
        """Yield the envelopes of the messages of each chunk."""
        return self.run(EnvelopeWorker.seal, part, chunks, size)

    def run(
        self, work: Callable[..., T], part: int, chunks: Iterable[bytes], *sizes: int
    ) -> Iterator[T]:
        """Yield the result of ``work`` for each chunk, in the order of the chunks.

        ``work`` is a module-level function or a method of ``EnvelopeWorker``, so that it can be
        pickled.
        """
        if self._pool is None:
            for chunk in chunks:
                yield work(self.worker, part, chunk, *sizes)
            return
        waiting: deque[Future[T]] = deque()
        for chunk in chunks:
            waiting.append(self._pool.submit(call_worker, work, part, chunk, *sizes))
            # Only a few chunks wait at a time, so that memory does not grow with the batch.
            if len(waiting) > 2 * self._processes + 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
