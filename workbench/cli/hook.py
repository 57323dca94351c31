"""`workbench agent hook`: what Claude Code runs before and after a compaction."""

import sys

from workbench.cli.options import takes
from workbench.cli.output import complain, say
from workbench.evaluation.experiment.spec import Masking
from workbench.evaluation.watching.hook import answer
from workbench.recordings.importers.json_text import decode
from workbench.recordings.importers.values import as_object


@takes(Masking, only=("redact",))
def hook(spec: Masking) -> int:
    """Answer a hook of Claude Code: PreCompact and SessionStart, as JSON on standard input.

    It never fails: whatever is wrong is a sentence on standard error, and the agent goes on.

    Example:

      workbench agent hook < event.json
    """
    try:
        event = as_object(decode(sys.stdin.read()))
        reply = answer(event, spec.redaction)
        if reply:
            say(reply)
    except Exception as error:  # noqa: BLE001 - a hook that fails would stop the agent
        complain(f"workbench: the hook did nothing: {error}")
    return 0
