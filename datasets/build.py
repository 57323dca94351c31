"""Records the bundled sessions anew: `python datasets/build.py [NAME...]`. Only a maintainer needs this."""

import argparse
import gzip
import hashlib
import io
import json
import platform
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from workbench.recordings.importers import native  # noqa: E402
from workbench.engine.models.tokenizer import TiktokenCounter  # noqa: E402
from workbench.recordings.datasets.recorder import read_task, record  # noqa: E402
from workbench.engine.transcript.log import MessageEntry  # noqa: E402
from workbench.engine.transcript.message import AssistantMessage, counted_text, said_texts  # noqa: E402

CARD = """\
# Written by datasets/build.py; do not edit.
name = "{name}"
title = "{title}"
project = "{project}"
made = "Recorded by workbench.recordings.datasets.recorder from datasets/tasks/{name}: the words of user and agent are scripted, every tool \
call was really run, and its result, exit code and duration are what came back."
licence = "MIT"
sha256 = "{sha256}"
messages = {messages}
requests = {requests}
calls = {calls}
branches = {branches}
tokens = {tokens}
encoding = "o200k_base"
window = {window}
python = "{python}"
pytest = "{pytest}"
"""


def main(names):
    for folder in sorted((HERE / "tasks").iterdir()):
        if (folder / "task.toml").is_file() and (not names or folder.name in names):
            build(folder)


def build(folder):
    task = read_task(folder)
    session = record(task)
    plain, packed = io.BytesIO(), io.BytesIO()
    native.write(session, plain)
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(plain.getvalue())
    out = HERE / "recorded" / task.name
    out.mkdir(parents=True, exist_ok=True)
    (out / "session.jsonl.gz").write_bytes(packed.getvalue())
    count = TiktokenCounter()
    said = [entry.message for entry in session.log if isinstance(entry, MessageEntry)]
    answers = [message for message in said if isinstance(message, AssistantMessage)]
    known = {
        "name": task.name,
        "title": task.title,
        "project": task.project,
        "sha256": hashlib.sha256(packed.getvalue()).hexdigest(),
        "messages": len(said),
        "requests": len(answers),
        "calls": sum(len(message.calls) for message in answers),
        "branches": session.branches,
        "tokens": sum(count.count_text(counted_text(message)) for message in said),
        "window": session.window,
        "python": platform.python_version(),
        "pytest": version("pytest"),
    }
    (out / "card.toml").write_text(CARD.format(**known), "utf-8")
    if (folder / "annotations.toml").is_file():
        (out / "annotations.toml").write_text(annotations(folder / "annotations.toml", session), "utf-8")
    print(f"{task.name}: {known['messages']} messages, {known['tokens']} tokens, {len(packed.getvalue())} bytes")


def annotations(file, session):
    """The sidecar: each quote of the source replaced by the ids of the messages that hold it."""
    texts = [(message.id, "\n".join(said_texts(message)).lower()) for message in session.messages]

    def holding(*quotes):
        found = [known for known, text in texts if all(quote.lower() in text for quote in quotes)]
        if not found:
            raise SystemExit(f"{file}: no message holds {' and '.join(map(repr, quotes))}")
        return found[:3]

    source = tomllib.loads(file.read_text("utf-8"))
    rows = [("# Written by datasets/build.py from datasets/tasks; see docs/annotations.md.",)]
    for kind in ("constraints", "decisions", "pending"):
        rows += [
            (
                f"[[{kind}]]",
                f"text = {json.dumps(text, ensure_ascii=False)}",
                f"evidence = {json.dumps(holding(quote))}",
            )
            for text, quote in source[kind]
        ]
    for about, old, new, old_quote, new_quote in source["superseded"]:
        fields = {"about": about, "old": old, "new": new}
        rows.append(
            (
                "[[superseded]]",
                *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()),
                f"old_evidence = {json.dumps(holding(old, old_quote))}",
                f"new_evidence = {json.dumps(holding(new, new_quote))}",
            )
        )
    rows += [
        (
            "[[probes]]",
            f"question = {json.dumps(question, ensure_ascii=False)}",
            f"answer = {json.dumps(answer, ensure_ascii=False)}",
            f"evidence = {json.dumps(holding(answer, quote))}",
        )
        for question, answer, quote in source["probes"]
    ]
    return "\n\n".join("\n".join(row) for row in rows) + "\n"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*", help="tasks to record; all without a name")
    main(arguments.parse_args().names)
