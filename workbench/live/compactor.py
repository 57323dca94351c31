"""The compactor inside an agent's loop: what to send before each request, and what to do after
an error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from threading import RLock

from workbench.base.typed_value import check_instance, check_window
from workbench.engine.compaction.engine import Compaction
from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets import preset as preset_named
from workbench.engine.compaction.setting_text import Value
from workbench.engine.compaction.strategy import Preset
from workbench.engine.models import find_model
from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.models.model import Model
from workbench.engine.models.provider_errors import Diagnosis
from workbench.engine.transcript.context import pending
from workbench.engine.transcript.message import Json, TokenCounter, quarter_of_bytes
from workbench.live.callbacks import Host
from workbench.live.compactor_status import CompactorStatus
from workbench.live.events import Event, Retry
from workbench.live.formats.table import MessageFormat
from workbench.live.gauge import Gauge
from workbench.live.hooks import Hooks
from workbench.live.journal import Journal, read_journal
from workbench.live.media import MediaBudget
from workbench.live.memory import Memory
from workbench.live.message_reader import MessageReader, listed, recogniser
from workbench.live.preparation import Preparation
from workbench.live.recall_tool import RecallTool
from workbench.live.recorder import Recorder
from workbench.live.recovery import Recovery
from workbench.live.runner import Runner
from workbench.live.saved import read, refuse_another, restore
from workbench.live.saved_changes import document_of
from workbench.live.scheduler import Scheduler
from workbench.live.settings import Settings, check, check_manual, settings_function
from workbench.live.usage_reports import UsageReports

DEFAULTS = Settings()
NO_HOOKS = Hooks()


class Compactor(CompactorStatus, RecallTool):
    """Keeps an agent's context within its window, over plain messages of OpenAI (both APIs),
    Anthropic or Gemini.

    The agent passes its whole list of messages before each request and sends what comes back. Its
    list never changes and is kept whole: `original` returns it, and going back in it undoes the
    compactions that covered more. Messages are matched by what they say; of those changed in place
    only the newest two are looked at again.

    Attributes:
        preset: how to compact.
    """

    def __init__(
        self,
        preset: Preset | str = "pipeline",
        *,
        model: Model | str | None = None,
        window: int | None = None,
        settings: Settings | Callable[[], Settings] = DEFAULTS,
        hooks: Hooks = NO_HOOKS,
        on_event: Callable[[Event], None] | None = None,
        count: TokenCounter | None = None,
        format: MessageFormat | None = None,
        pins: Callable[[Mapping[str, Json]], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
        **options: Value,
    ) -> None:
        """A compactor for one conversation.

        Args:
            preset: how to compact: a preset or its name.
            model: writes the summaries: a model or its name, such as `extractive` or
                `litellm:gpt-4o-mini`. Presets that do something else first need none: where they
                come to a summary, a note of what went replaces it.
            window: the agent model's context window, in tokens. None takes that of the model which
                `before_request` is told, and the preset's own where it is unknown.
            settings: fixed, or a function that is called at each decision.
            hooks: the agent's own functions around each compaction.
            on_event: called with each event as it happens.
            count: tokens of one message, which it gets as an object of this package such as
                `wb.UserMessage`; the preset's own counter takes precedence. None takes a quarter
                of its bytes.
            format: of the messages; None finds it from them.
            pins: whether a message must stay unchanged.
            clock: seconds, for learned limits to expire.
            options: settings of the preset by name, such as `compact_at=0.5`; see `wb.preset`.

        Raises:
            UnknownName: no preset, model or format has that name.
            SettingError: `litellm` without a model's name, no model for a preset that asks one
                first of all, or a value that cannot work.
        """
        check_window(window, optional=True)
        check(
            preset,
            model,
            settings,
            hooks,
            format,
            on_event=on_event,
            count=count,
            pins=pins,
            clock=clock,
        )
        self.preset = preset_named(preset, **options)
        usual_window = window or self.preset.host.window
        host = Host(on_event)
        self._host = host
        self._lock = RLock()
        plain_counter = host.counter(count or quarter_of_bytes)
        counter = plain_counter
        if self.preset.count is not None:
            counter = host.counter(self.preset.count)
        reader = MessageReader(
            counter,
            pins=host.pins(pins),
            format=format,
            recognise=recogniser(self.preset),
            sealed_budget=usual_window // 2,
        )
        self._memory = Memory(reader)
        self._gauge = Gauge(
            self.preset,
            self._memory,
            settings_function(settings),
            window,
            host.clock(clock),
            plain_counter,
            host,
        )
        writer = None
        if model is not None:
            writer = find_model(model)
        self._runner = Runner(self._gauge, writer, hooks, host, self._lock)
        self._media = MediaBudget(self._runner)
        self._recovery = Recovery(self._runner, self._media, host)
        self._scheduler = Scheduler(self._runner, host)
        self._journal: Journal | None = None
        self._usage_reports = UsageReports(self._gauge, host)

    def save(self) -> dict[str, Json]:
        """All that it knows, as one JSON document; see `load`."""
        return self.recorder().whole()

    def save_to(self, path: PathLike[str] | str) -> None:
        """Save to a file that `load` goes on from: the first call writes the whole, each further
        one adds what changed since.

        What was written is on the disk when the call returns. A process that is killed meanwhile
        leaves the state before. The whole is written anew where the file has grown to several times
        that, or another program has changed it.

        Args:
            path: of the file, this compactor's own.

        Raises:
            OSError: the file could not be written; the next call writes the whole.
            SettingError: the path is none.
        """
        check_instance("path", path, (str, PathLike), "the path of a file")
        file = Path(path)
        with self._lock:
            if self._journal is None or self._journal.path != file:
                recorder = self.recorder()
                self._journal = Journal(file, recorder)
            self._journal.save()

    def recorder(self) -> Recorder:
        """What writes this compactor down, for a storage of your own: the `whole`, then
        `changes`. The list of these records is a document for `load`.
        """
        return Recorder(self.preset.name, self._recovery, self._scheduler)

    @classmethod
    def load(
        cls,
        document: Json,
        preset: Preset | str | None = None,
        *,
        window: int | None = None,
        **given: Json,
    ) -> Compactor:
        """The compactor that was saved, to go on where it was.

        Args:
            document: what `save` returned, or the `Path` of a file that `save_to` wrote.
            preset: None takes the built-in or installed one of that name; one with another name is
                refused.
            window: None takes the saved one.
            given: the other arguments of the constructor, none of which is saved.

        Raises:
            FormatError: the document is none of `save`, damaged, or of a newer version.
            OSError: the file cannot be read.
            SettingError, UnknownName: it was saved with another preset, or with one of an unknown
                name.
        """
        if isinstance(document, PathLike):
            file = Path(document)
            document = read_journal(file)
        elif isinstance(document, list):
            document = document_of(document)
        saved = read(document)
        if window is None:
            window = saved.window
        compactor = cls(preset or saved.preset, window=window, **given)
        refuse_another(saved, compactor.preset.name)
        restore(saved, compactor._recovery, compactor._scheduler)
        return compactor

    def before_request(
        self, messages: Sequence[Json], *, system: Json = None, tools: Json = None, model: str = ""
    ) -> list[Json]:
        """What to send: a new list, compacted if it is due. The agent's own list does not change.

        Args:
            messages: the whole conversation so far, or the list that came back last with more
                behind it.
            system: Anthropic's system prompt, to be counted; it is sent by the caller.
            tools: the tools' schemas, to be counted.
            model: the agent's model; learned limits and reported usage are its own.

        Raises:
            FormatError: an entry is no chat message.
        """
        messages = listed(messages)
        with self._lock:
            self._runner.hear(messages)
            lists_heard = self._runner.lists_heard
            if system is not None:
                self._memory.reader.likely = "anthropic"
            self._gauge.declare(system, tools, str(model or ""))
            self._recovery.release()
            self._scheduler.check_window()
            self._scheduler.tell_assumed_window()
        self._scheduler.consider("before_request")
        self._media.fit()
        return self._to_send(messages, lists_heard)

    def after_tools(self, messages: Sequence[Json] | None = None) -> None:
        """Tools have answered: the time for presets that look then, once all calls of an answer
        have their results.

        Args:
            messages: the conversation with the results.
        """
        self._runner.hear(messages)
        messages_sent = self._memory.state.sent.messages
        if pending(messages_sent) is None:
            self._scheduler.consider("after_tools")

    def after_turn(self, messages: Sequence[Json] | None = None) -> None:
        """A turn is over: the time for compactions that should not fall into one.

        Args:
            messages: the conversation with the turn's last answer.
        """
        self._runner.hear(messages)
        self._scheduler.consider("after_turn")

    def report_usage(
        self, usage: Json, *, stop: str = "", model: str = "", context_management: Json = None
    ) -> Diagnosis | None:
        """Take in what the provider reported for the newest request.

        A report about another history, by another model, or far beyond the request is ignored.
        After one that shows an overflow without an error, the next request is compacted.

        Args:
            usage: in any provider's form, as a dict or an object.
            stop: the stop or finish reason.
            model: the model that answered.
            context_management: of Anthropic's answer: what its edits cleared is counted no more.

        Returns:
            The overflow that it shows, or None.
        """
        with self._lock:
            diagnosis = self._usage_reports.take(usage, stop, model, context_management)
            if diagnosis is not None:
                self._scheduler.overflowed = True
                self._recovery.judged(diagnosis)
            return diagnosis

    def on_error(
        self, error: ProviderError, messages: Sequence[Json] | None = None, *, model: str = ""
    ) -> Retry | None:
        """What to send after a request failed; None where there is nothing to change: rate limits,
        outages and keys are the agent's to wait for or to mend, as its client does.

        The newest `error_judged` event says what the error was, and `history_mended` of what a
        refused history is mended from then on. `Settings.retries` limits the retries of one
        request; of errors that are no overflow the preset says how often and after how long they
        are sent again.

        Args:
            error: what the client raised, or the error as JSON or text.
            messages: the conversation, if it has grown since the request.
            model: the model that was called; errors of another model than the present one are
                ignored.
        """
        diagnosis = self._recovery.judge(error, model)
        if diagnosis is None:
            return None
        with self._lock:
            self._runner.hear(messages)
            messages = self._memory.given_list()
            lists_heard = self._runner.lists_heard
        wait = self._recovery.wait(diagnosis)
        if wait is None:
            return None
        output = None
        if diagnosis.action == "lower_output":
            output = diagnosis.output
        messages_to_send = self._to_send(messages, lists_heard)
        return Retry(messages_to_send, diagnosis, max_tokens=output, wait=wait)

    def compact(
        self,
        instructions: str = "",
        keep_recent: int | None = None,
        messages: Sequence[Json] | None = None,
    ) -> Compaction | None:
        """Compact now, by hand; None where a hook cancelled it or the history changed meanwhile.

        Args:
            instructions: what the summary should dwell on.
            keep_recent: tokens of newest messages to keep.
            messages: the conversation, if it has grown since the last request.

        Raises:
            ModelError: no summary could be had; the history stays as it was.
            CompactionRefused: a turn goes on, and the preset's system compacts by hand only between
                turns.
        """
        with self._lock:
            budget = self._budget_by_hand(instructions, keep_recent, messages)
        return self._runner.run(budget, "by_hand", self.preset.strategy)

    def prepare(
        self,
        instructions: str = "",
        keep_recent: int | None = None,
        messages: Sequence[Json] | None = None,
    ) -> Preparation | None:
        """What `compact` would do with the same arguments: no model is asked, and nothing changes.

        Returns:
            The plan; None where nothing would be compacted.

        Raises:
            CompactionRefused: a turn goes on, and the preset's system compacts by hand only between
                turns.
        """
        with self._lock:
            budget = self._budget_by_hand(instructions, keep_recent, messages)
            return self._runner.prepare(budget)

    def _budget_by_hand(
        self, instructions: str, keep_recent: int | None, messages: Sequence[Json] | None
    ) -> Budget:
        """What a compaction by hand may keep; its arguments are those of `compact`."""
        check_manual(instructions, keep_recent)
        self._runner.hear(messages)
        return self._runner.budgets.manual(instructions, keep_recent)

    def request_compaction(self, instructions: str = "") -> None:
        """Compact as soon as the present turn is over, with these instructions for the summary."""
        self._scheduler.request(instructions)

    def abandon(self) -> None:
        """Wait no longer for a compaction whose call was cancelled."""
        self._scheduler.abandon()

    def _to_send(self, messages: Sequence[Json], lists_heard: int) -> list[Json]:
        """What to send of these messages, also where another thread passed another list meanwhile.

        Args:
            messages: the whole conversation.
            lists_heard: how many lists had been heard when these were.
        """
        with self._lock:
            if self._runner.lists_heard != lists_heard:
                self._runner.hear(messages)
                if self._gauge.settings.automatic:
                    self._runner.fit()
                self._media.fit()
            self._gauge.hand_out()
            return self._memory.messages()
