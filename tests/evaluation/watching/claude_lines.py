"""A short session as Claude Code writes it, with a compaction after which its records go on in a
new tree.
"""

import json
from collections.abc import Iterator
from typing import Any

SUMMARY = "This session is being continued. The user wants the parser fixed in src/parser.py."


def _record(uuid: str, parent: str | None, type_: str, second: int, **more: Any) -> str:
    time = f"2026-01-01T10:{second // 60:02}:{second % 60:02}Z"
    known = {"sessionId": "generated", "cwd": "/w/app", "isSidechain": False, "timestamp": time}
    return json.dumps({"type": type_, "uuid": uuid, "parentUuid": parent, **known, **more})


def _step(n: int, parent: str, call: dict[str, Any], result: str, prompt: int) -> Iterator[str]:
    usage = {"input_tokens": prompt, "output_tokens": 50}
    blocks = [{"type": "tool_use", "id": f"call{n}", **call}]
    answer = {
        "id": f"msg{n}",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": blocks,
        "usage": usage,
    }
    yield _record(f"a{n}", parent, "assistant", 10 * n, message=answer)
    content = [{"type": "tool_result", "tool_use_id": f"call{n}", "content": result}]
    yield _record(
        f"r{n}", f"a{n}", "user", 10 * n + 5, message={"role": "user", "content": content}
    )


def lines(steps: int = 12, after: int = 3) -> list[str]:
    """The lines: a task, steps that edit `src/ledger_total.py`, a compaction that does not tell
    of it, more steps.
    """
    task = "Fix the parser. Never change the file docs/agreement.md, whatever happens."
    found = [_record("u0", None, "user", 0, message={"role": "user", "content": task})]
    parent = "u0"
    for n in range(1, steps + 1):
        name = "src/ledger_total.py" if n % 2 else "src/parser.py"
        call = {
            "name": "Edit",
            "input": {"file_path": f"/w/app/{name}", "old_string": "a", "new_string": f"{n}"},
        }
        found += _step(
            n, parent, call, f"edited {name}\n" + f"total_of_rows = {n}\n" * 20, 20_000 + 400 * n
        )
        parent = f"r{n}"
    meta = {"trigger": "auto", "preTokens": 26_000}
    found.append(
        _record(
            "b",
            None,
            "system",
            500,
            subtype="compact_boundary",
            logicalParentUuid=parent,
            compactMetadata=meta,
        )
    )
    message = {"role": "user", "content": SUMMARY}
    found.append(_record("s", "b", "user", 501, isCompactSummary=True, message=message))
    parent = "s"
    for n in range(steps + 50, steps + 50 + after):
        call = {"name": "Read", "input": {"file_path": "/w/app/src/parser.py"}}
        found += _step(n, parent, call, "def parse(): ...", 21_000 + 100 * (n - steps - 50))
        parent = f"r{n}"
    return found
