"""Sessions of the Cline SDK and their compacted states: `messages.json` files under `~/.cline/data/sessions`."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.chat import ChatBuilder
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, mapping, optional_count, text, texts, timestamp
from workbench.transcript.files import FileOps
from workbench.transcript.message import Json, Usage

USAGE = UsageFields("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", cache_in_input=True)


class ClineBuilder(ChatBuilder):
    """Reads messages in Anthropic's shape, and the summary or the mark of a compaction among them."""

    compacted = False

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the system prompt and the id; a compacted state has its session's id, so its file's name is added."""
        name, stem = identifier(document, "sessionId"), self.source.stem
        self.id = f"{name}-{stem}" if name and stem not in ("session", name) else name
        if prompt := text(document, "system_prompt"):
            self.say_text("system", prompt, id="system")

    def read(self, record: Json, *, synthetic: bool = False) -> None:
        """Read one message. Before a compaction there is the system prompt alone, which none touches."""
        about = mapping(record, "metadata")
        mark = text(about, "kind")
        if mark == "compaction_summary":
            self._summary(record, about)
            self.compacted = True
            return
        if mark == "compaction" and not self.compacted:
            self.time, entry_id = timestamp(record, "ts"), f"{identifier(record, 'id')}-compaction"
            self.compaction(None, id=entry_id, kept=self.ids, reason=text(about, "reason"))
        shaped = {**record, "timestamp": record.get("ts"), "model": text(record, "modelInfo/id")}
        super().read(shaped, synthetic=synthetic)
        self.compacted = self.compacted or mark == "compaction"

    def usage(self, record: Mapping[str, Json]) -> Usage | None:
        """The figures of an answer; the input includes what was cached."""
        return USAGE.read(mapping(record, "metrics"))

    def _summary(self, message: Mapping[str, Json], about: Mapping[str, Json]) -> None:
        details = mapping(about, "details")
        self.time = timestamp(about, "generatedAt")
        self.compaction(
            text(about, "summary"),
            id=identifier(message, "id") or "compaction",
            files=FileOps(texts(details, "readFiles"), texts(details, "modifiedFiles")),
            kept=self.ids,
            tokens_before=optional_count(about, "tokensBefore"),
        )
