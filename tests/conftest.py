"""What all tests share."""

from __future__ import annotations

import fcntl
import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from profiles import FULL

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("MPLBACKEND", "agg")
os.environ.setdefault("MPLCONFIGDIR", str(Path(__file__).parent.parent / "build" / "fonts"))

# What is multiplied here is small: a second thread would wait for it in a loop, at seven times the
# processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests start dozens of processes, and each that finds no bytecode compiles the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Where jsonschema finds this package, it builds a grammar of web addresses for seconds, which no
# notebook needs.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Tests never time, and the same commit gives the same verdict; WORKBENCH_RANDOM=1 looks for new
# counter-examples.
settings.register_profile(
    "workbench",
    deadline=None,
    derandomize=not os.environ.get("WORKBENCH_RANDOM"),
    max_examples=100 if FULL else 25,
)
settings.load_profile("workbench")

# Answers of models and weights put together are kept while the tests run, and not in a home folder.
if "WORKBENCH_CACHE" not in os.environ:
    _CACHE = TemporaryDirectory(prefix="workbench-tests-", ignore_cleanup_errors=True)
    os.environ["WORKBENCH_CACHE"] = _CACHE.name


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: a garbage collector that walks over them again and
    again finds nothing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run in the full profile."""
    for item in items:
        if not FULL and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: in the full profile"))


CORPORA = Path(__file__).parent.parent.parent / "shared" / "corpora"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of real recordings beside the checkout; tests that need it say so when it is
    not there.
    """
    if not CORPORA.is_dir():
        pytest.skip("no real recordings: the folder ../shared/corpora is not beside this checkout")
    return CORPORA


@pytest.fixture(scope="session", autouse=True)
def no_workers_unasked() -> Iterator[None]:
    """In the short profile a run that asks for no number of workers has none: each takes seconds
    to start.
    """
    with pytest.MonkeyPatch.context() as patched:
        if not FULL:
            patched.setattr(os, "cpu_count", lambda: 1)
        yield


@pytest.fixture(scope="session")
def made_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """What takes seconds to make is made by the first process of this test run that needs it;
    the others wait.
    """
    path = tmp_path_factory.getbasetemp()
    shared = path.parent if "PYTEST_XDIST_WORKER" in os.environ else path

    def once(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return once
