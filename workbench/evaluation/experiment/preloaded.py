"""What a fork server loads before it forks workers. Only fork servers import this: it changes the
process.
"""

import contextlib
import gc
import os
import signal
from importlib import import_module

from workbench.base.garbage import look_from_now
from workbench.engine.models import tokenizer
from workbench.evaluation.experiment.forking import ONE_THREAD


def _load() -> None:
    """Load what nearly every task needs; what fails here fails again where a task needs it, which
    then says so.
    """
    with contextlib.suppress(Exception):
        import_module("joblib.externals.loky.process_executor")
    with contextlib.suppress(Exception):
        import_module("workbench.evaluation.experiment.units")
    with contextlib.suppress(Exception):
        tokenizer.loaded()


signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the command, which ends this
os.environ.update(ONE_THREAD)
gc.disable()
_load()
look_from_now()  # to look at what is loaded would copy it in each worker
signal.signal(signal.SIGINT, signal.default_int_handler)
