"""Sessions of OpenAI's Codex, the command line and the desktop: JSON lines of items and events.

Read are the rollout files under `~/.codex/sessions`, versions 0.119 to 0.142, and the bare items of older ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from workbench.importers.blocks import KINDS, Content, add_part, content
from workbench.importers.session_builder import SessionBuilder
from workbench.importers.source import SourceFile
from workbench.importers.usage import OPENAI_USAGE
from workbench.importers.values import identifier, mapping, objects, optional_count, text, timestamp
from workbench.transcript.log import MessageEntry
from workbench.transcript.message import Json, Text, Thinking, ToolCall, Usage, plain_text
from workbench.transcript.session import Session

IGNORED = frozenset({"ghost_snapshot", "other"})
_CLIENT = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:[a-z]+_[a-z_]+|permissions instructions|skill|turn_aborted)>)"
)
_EXIT = re.compile(r"(?:Exit code:|exited with code|\"exit_code\":) ?(-?\d+)")
_HEADER = 300


class CodexBuilder(SessionBuilder):
    """Reads items; those of one answer are gathered until the next begins."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.meta: Mapping[str, Json] = {}
        self.gathered = Content()
        self.usage: Usage | None = None
        self.began: float | None = None
        self.last_prompt: int | None = None

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one line: an item, an event, or what is known of the session."""
        type_, payload = text(record, "type"), mapping(record, "payload")
        self.time = timestamp(record, "timestamp")
        if type_ == "response_item":
            self._item(payload)
        elif type_ == "session_meta":
            self._meta(mapping(payload, "meta") or payload)
        elif type_ == "turn_context":
            self._close()
            self.model = text(payload, "model") or self.model
        elif type_ == "event_msg":
            self._event(payload)
        elif type_ == "compacted":
            self._compacted(payload)
        elif "payload" not in record and (type_ in KINDS or type_ == "message"):
            self._item(record)
        elif "instructions" in record and not self.meta:
            self._meta(record)
        elif "record_type" not in record:
            self.source.unknown[f"record of type {type_!r}"] += 1

    def _meta(self, payload: Mapping[str, Json]) -> None:
        instructions = text(payload, "base_instructions/text", "instructions")
        if instructions and not self.meta:
            self.say_text("system", instructions)
        self.meta = self.meta or payload

    def _event(self, payload: Mapping[str, Json]) -> None:
        match text(payload, "type"):
            case "token_count":
                info = mapping(payload, "info")
                self.window = optional_count(info, "model_context_window") or self.window
                usage = OPENAI_USAGE.read(mapping(info, "last_token_usage"))
                self.usage = usage if usage is not None and self.gathered.blocks else self.usage
            case "task_started":
                self._close()
                self.window = optional_count(payload, "model_context_window") or self.window
            case "turn_aborted":
                self._close()
                self.note("turn_aborted", text(payload, "reason"))

    def _item(self, payload: Mapping[str, Json]) -> None:
        type_ = text(payload, "type")
        if type_ == "message" and text(payload, "role") != "assistant":
            self._close()
            role, found, fields = self._message(payload)
            self.say_content(role, found, **fields)
            return
        found = Content()
        if type_ == "message":
            found = content(payload)
        elif type_ not in IGNORED:
            add_part(found, payload)
        self.source.unknown.update(found.unknown)
        if found.blocks and (self.usage is not None or self.gathered.results):
            self._close()
        if found.blocks and self.began is None:
            self.began = self.time
        for block in found.blocks:
            if isinstance(block, ToolCall) and not block.id:
                block = replace(block, id=f"{type_}-{len(self.log)}")
            self.gathered.blocks += [block] if block != Thinking("") else []
        for result in found.results:
            code = _EXIT.search(plain_text(result)[:_HEADER])
            failed = code is not None and code[1] != "0"
            self.gathered.results.append(replace(result, is_error=failed, time=self.time))

    def _message(self, payload: Mapping[str, Json]) -> tuple[str, Content, dict[str, Json]]:
        """The role of a message item, its content, and the further fields of the message."""
        found, role = content(payload), text(payload, "role")
        if role in ("developer", "system"):
            return "system", found, {}
        if role == "assistant":
            return "assistant", Content([*found.said], unknown=found.unknown), {"model": self.model}
        first = next((block.text for block in found.said if isinstance(block, Text)), "")
        return "user", found, {"synthetic": _CLIENT.match(first) is not None}

    def _close(self) -> None:
        """Write the answer that was gathered, and behind it the results of its calls."""
        if self.gathered.blocks or self.gathered.results:
            model, usage, time = self.model, self.usage, self.began
            self.say_content("assistant", self.gathered, model=model, usage=usage, time=time)
        self.last_prompt = self.usage.prompt if self.usage is not None else self.last_prompt
        self.gathered, self.usage, self.began = Content(), None, None

    def _compacted(self, payload: Mapping[str, Json]) -> None:
        """Read a compaction: it lists what the model is sent from now on, old messages and new ones."""
        self._close()
        written, sealed = text(payload, "message"), 0
        known: dict[tuple[str, str], list[str]] = defaultdict(list)
        for entry in self.log:
            if isinstance(entry, MessageEntry):
                known[entry.message.role, plain_text(entry.message)].append(entry.id)
        kept: list[str] = []
        added: list[tuple[str, Content, dict[str, Json]]] = []
        for item in objects(payload, "replacement_history"):
            if text(item, "type") == "message":
                role, found, fields = self._message(item)
                if same := known[role, found.words]:
                    kept.append(same.pop())
                else:
                    added.append((role, found, fields))
            elif text(item, "type") in ("compaction", "compaction_summary"):
                sealed += len(text(item, "encrypted_content"))
                written = written or text(item, "summary")
        self.compaction(written or None, kept=tuple(kept), tokens_before=self.last_prompt)
        if not written:
            self.note("hidden_summary", f"encrypted, {sealed} characters" if sealed else "not in the recording")
        for role, found, fields in added:
            self.say_content(role, found, **fields)

    def session(self) -> Session:
        """What has been read, with the answer that was still open."""
        self._close()
        self.id, self.cwd = identifier(self.meta, "id"), text(self.meta, "cwd")
        return super().session()
