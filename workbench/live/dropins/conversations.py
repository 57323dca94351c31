"""The compactors of several conversations, told apart by their ids, each saved in a file of its
own.

A drop-in whose library serves many conversations asks here for the one that a request belongs to.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.transcript.message import Json
from workbench.live.async_compactor import AsyncCompactor
from workbench.live.compactor import Compactor
from workbench.live.events import Retry
from workbench.live.formats.canonical import is_output, is_result_part
from workbench.live.formats.table import MessageFormat
from workbench.live.settings import Settings

LIVE = 256
"""Conversations that stay in memory where all are saved in files, the newest; another is loaded
from its file.
"""

LIVE_UNSAVED = 1_024
"""Conversations that stay in memory where none is saved."""


class Conversation:
    """One conversation: its compactor, and the file that it is saved to.

    Attributes:
        compactor: for its events and properties.
        file: None where nothing is saved.
    """

    def __init__(self, file: Path | None, preset: Preset, options: dict[str, Any]) -> None:
        self.file = file
        self._model_window: int | None = None
        usual_settings = Settings()
        self._host_settings: Settings | Callable[[], Settings] = options.get(
            "settings",
            usual_settings,
        )
        self._has_own_window = options.get("window") is not None
        arguments = {**options, "settings": self._settings}
        if file is not None and file.exists():
            self.compactor = Compactor.load(file, preset, **arguments)
        else:
            self.compactor = Compactor(preset, **arguments)
        self._waiting = AsyncCompactor(self.compactor)

    def _settings(self) -> Settings:
        """The host's settings; where it names no window, with the one that its library knows."""
        settings = self._host_settings
        if callable(settings):
            settings = settings()
        has_window = self._has_own_window or settings.window is not None
        if has_window or self._model_window is None:
            return settings
        return replace(settings, window=self._model_window)

    async def to_send(
        self,
        messages: Sequence[Json],
        *,
        system: Json = None,
        tools: Json = None,
        model: str = "",
        model_window: int | None = None,
    ) -> list[Json]:
        """What to send, see `Compactor.before_request`; it is saved when this returns.

        Args:
            messages: the whole conversation so far.
            system: the system prompt where it is none of the messages, to be counted.
            tools: the tools' schemas, to be counted.
            model: the agent's model.
            model_window: tokens that the model takes, where the library knows it.
        """
        self._model_window = model_window
        if messages and _is_result(messages[-1]):
            await self._waiting.after_tools(messages)
        sent = await self._waiting.before_request(
            messages,
            system=system,
            tools=tools,
            model=model,
        )
        await self.save()
        return sent

    async def report_usage(self, usage: Json, *, stop: str = "", model: str = "") -> None:
        """Take in what was reported of the newest request, see `Compactor.report_usage`."""
        self.compactor.report_usage(usage, stop=stop, model=model)
        await self.save()

    async def after_turn(self, messages: Sequence[Json]) -> None:
        """A turn is over, see `Compactor.after_turn`."""
        await self._waiting.after_turn(messages)
        await self.save()

    async def on_error(self, error: ProviderError, *, model: str = "") -> Retry | None:
        """What to send after an error, see `Compactor.on_error`."""
        retry = await self._waiting.on_error(error, model=model)
        await self.save()
        return retry

    async def save(self) -> None:
        """Add what changed to the file."""
        if self.file is not None:
            await self._waiting.save_to(self.file)


class Conversations:
    """A compactor for each conversation, made when it is first asked for."""

    def __init__(
        self,
        preset: Preset | str,
        folder: PathLike[str] | str | None,
        format: MessageFormat,
        options: dict[str, Any],
    ) -> None:
        """No conversation yet.

        Args:
            preset: how to compact: a preset or its name.
            folder: for the files; None saves nothing.
            format: of the messages.
            options: what else `Compactor` takes.

        Raises:
            UnknownName: no preset or model has that name.
            SettingError: no model for a preset that asks one first of all, or a value that cannot
                work.
        """
        self.preset = preset_named(preset)
        self._options = {"format": format, **options}
        model = self._options.get("model")
        if model is not None:
            self._options["model"] = find_model(model)
        self._folder: Path | None = None
        self._most_live = LIVE_UNSAVED
        if folder is not None:
            self._folder = Path(folder)
            self._most_live = LIVE
        Compactor(self.preset, **self._options)  # so that what it refuses is refused here
        self._live: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    def of(self, id: str) -> Conversation:
        """The conversation of this id.

        Raises:
            FormatError: its file is damaged.
            OSError: its file cannot be read, or the folder cannot be made.
        """
        with self._lock:
            conversation = self._live.pop(id, None)
            if conversation is None:
                file = self._file(id)
                conversation = Conversation(file, self.preset, self._options)
            self._live[id] = conversation
            while len(self._live) > self._most_live:
                self._live.popitem(last=False)
            return conversation

    def _file(self, id: str) -> Path | None:
        """The file of a conversation under this preset; its name shows nothing of the id."""
        if self._folder is None:
            return None
        self._folder.mkdir(parents=True, exist_ok=True)
        key = f"{self.preset.name}\n{id}"
        digest = sha256(key.encode()).hexdigest()
        return self._folder / f"{digest[:40]}.journal"


def _is_result(message: Json) -> bool:
    """Whether a message is the result of a tool, in any of the formats."""
    if not isinstance(message, dict):
        return False
    if message.get("role") == "tool" or is_output(message):
        return True
    for field in ("content", "parts"):
        parts = message.get(field)
        if not isinstance(parts, list):
            continue
        if any(map(is_result_part, parts)):
            return True
    return False
