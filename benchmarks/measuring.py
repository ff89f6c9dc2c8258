"""One way to measure: median seconds, and peak memory in a run of its own."""

from __future__ import annotations

import statistics
import time
import tracemalloc


def measured(call, repeat: int):
    """Median seconds, peak MB (a separate run, because tracing slows it down) and the result."""
    result = call()
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return statistics.median(seconds), peak, result
