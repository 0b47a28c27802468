"""Opens a Dask cluster as an engine: one that is started on this machine, or an existing one."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import forkserver
from pathlib import Path

from sottovoce.core.dask_engine import DaskEngine
from sottovoce.core.engine import DASK, EngineSettings
from sottovoce.core.errors import MissingExtraError
from sottovoce.core.scratch import scratch_folder

RESTARTING = 3600
"""Seconds that a killed worker of a local cluster may take to start again."""
DEATHS = 3
"""Workers that may be lost over a group before the scheduler of a local cluster gives it up."""
SHARE = 0.8
"""Of the memory of this machine that the workers of a local cluster may use together."""
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ),
    1,
)
KEPT_MEMORY = {
    "MALLOC_ARENA_MAX": 1,  # the arena of another thread gives blocks above 64 MB back at once
    "MALLOC_MMAP_THRESHOLD_": 256 << 20,
    "MALLOC_TRIM_THRESHOLD_": 512 << 20,
}
"""For glibc: freed blocks are used again instead of being given back to the system, which has to
clear every page that it gives out. Signal processing makes and frees large arrays all the time."""
WORKER_ENVIRONMENT = ONE_THREAD | KEPT_MEMORY


@contextmanager
def open_cluster(settings: EngineSettings, tell: Callable[[str], None]) -> Iterator[DaskEngine]:
    """Open a Dask engine.

    Parameters
    ----------
    settings : EngineSettings
        ``dask`` starts a cluster on this machine; an address is that of an existing one.
    tell : callable
        Called with lines for the user.

    Yields
    ------
    DaskEngine

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    InputError
        ``engine-unreachable``.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError(f"The engine {settings.address}", "scale") from None
    local = settings.address == DASK
    parent = settings.scratch or Path(tempfile.gettempdir() if local else ".")
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder(parent))
        address = settings.address
        if local:
            address = stack.enter_context(_local_cluster(settings, scratch))
        engine = DaskEngine(address, scratch, same_machine=local)
        stack.callback(engine.close)
        tell(engine.introduction())
        yield engine
        for line in engine.summary.lines():
            tell(line)


@contextmanager
def _local_cluster(settings: EngineSettings, scratch: Path) -> Iterator[str]:
    """Start workers of one thread each on this machine; yields the scheduler's address."""
    import dask
    from distributed import LocalCluster
    from distributed.system import MEMORY_LIMIT

    memory = settings.memory or int(SHARE * MEMORY_LIMIT / settings.jobs)
    options = {
        "distributed.worker.multiprocessing-method": _start_method(),
        "distributed.scheduler.allowed-failures": DEATHS,
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,  # results are small; nothing goes to disk
        # a paused worker would wait for memory that mapped files hold, and the run for the worker
        "distributed.worker.memory.pause": False,
        "distributed.worker.profile.enabled": False,
        # Dask looks at clock and memory up to 50 times a second in every process, which takes 4 %
        # of the time of one core; this is enough to see that a worker is lost or full
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.worker.memory.monitor-interval": "500ms",
        "distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT,
        # on a busy machine a killed worker takes longer to come back than Dask's 15 s, after which
        # it would close the nanny that is starting it again
        "distributed.deploy.lost-worker-timeout": f"{RESTARTING}s",
    }
    with dask.config.set(options):
        _preload_modules()
        with LocalCluster(
            n_workers=settings.jobs,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=str(scratch),
            silence_logs=logging.CRITICAL,
        ) as cluster:
            yield cluster.scheduler_address


_FORKING_FROM: dict[str, str] = {}
"""Environment of the process that workers are forked from, once a cluster has started it."""


def _start_method() -> str:
    """How workers are started: forked from a process that has imported the modules of the work.

    That process lives as long as this one. If the environment has changed since it started, or it
    was started by something else in an unknown one, workers get a process of their own, lest they
    read an old secret from an old environment.
    """
    if sys.platform != "linux":
        return "spawn"
    here = {
        name: value
        for name, value in os.environ.items()
        if name not in WORKER_ENVIRONMENT and name != "PYTHONHASHSEED"  # Dask sets these
    }
    unknown = _fork_server_runs() and not _FORKING_FROM
    if unknown or (_FORKING_FROM and here != _FORKING_FROM):
        return "spawn"
    _FORKING_FROM.update(here)
    return "forkserver"


def _fork_server_runs() -> bool:
    """Whether this process has a process to fork from; ``multiprocessing`` has no public answer."""
    return getattr(forkserver._forkserver, "_forkserver_pid", None) is not None


def _preload_modules() -> None:
    """Tell the process that workers are forked from what to import, if it has not started yet."""
    from distributed.utils import get_mp_context

    loaded = [name for name in sys.modules if name.partition(".")[0] == "sottovoce"]
    get_mp_context().set_forkserver_preload(["distributed.nanny", *loaded])
