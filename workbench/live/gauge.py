"""How full the window is, by count, by providers' reports and by the windows that errors stated."""

from collections.abc import Callable
from dataclasses import replace

from workbench.engine.compaction.strategy import Moment, Preset, Situation, Trigger
from workbench.engine.models.provider_errors import Diagnosis, classify_answer
from workbench.engine.transcript.message import Json, SystemMessage, Text, TokenCounter, Usage
from workbench.live.calibration import (
    LEAST_SCALE,
    MOST_OVERHEAD,
    NEUTRAL,
    SURELY_OVERHEAD,
    Calibration,
    OwnCount,
    media_bytes,
    overhead_of,
)
from workbench.live.callbacks import Host
from workbench.live.memory import Memory
from workbench.live.mending.mends import Mending
from workbench.live.sent_request import CountedMessages, SentRequest
from workbench.live.settings import Settings
from workbench.live.stated_limits import StatedLimit, StatedLimits, window_by_name


class Gauge:
    """Weighs the request that would be sent now, with the current settings.

    Right after a report the estimate is the reported prompt and our count of what came later. A
    compaction makes the report stale: then the overhead is what was declared, or what the report of
    the lightest request left unexplained. What a heavier one leaves unexplained is the scale of our
    count: see `Calibration`.

    Attributes:
        request: the newest request, unless the history or the model changed since.
        calibration: how the present model's provider counts against our count.
        least, lightest: the overhead that reports showed, and the tokens of the request that showed
            it.
        accepted: tokens of the largest request that the present model answered.
        windows: those that errors stated.
        quotas: tokens of a minute or of a plan that errors stated.
        requests: how many were handed out.
    """

    def __init__(
        self,
        preset: Preset,
        memory: Memory,
        settings: Callable[[], Settings],
        window: int | None,
        clock: Callable[[], float],
        count: TokenCounter,
        host: Host,
    ) -> None:
        self.preset = preset
        self.memory = memory
        self.clock = clock
        self.count = count
        self.model = ""
        self.request: SentRequest | None = None
        self._good = Settings()
        self._settings = host.guarded(
            "settings", settings, lambda: self._good, lambda answer: isinstance(answer, Settings)
        )
        self.configured = window
        self._counted = CountedMessages()
        self.calibration = NEUTRAL
        self.lightest = self.accepted = 0
        self.reported: SentRequest | None = None
        self.windows = StatedLimits(clock)
        self.quotas = StatedLimits(clock)
        self._declared: tuple[Json, Json] = (None, None)
        self.declared_tokens = 0
        self.least: int | None = None
        self.requests = 0
        self.sent_at: float | None = None  # the clock when a request was handed out last

    @property
    def settings(self) -> Settings:
        """The current settings; the last ones where the host's function fails."""
        self._good = self._settings()
        return self._good

    @property
    def tokens(self) -> int:
        """Tokens of the request that would be sent now, without what the provider takes out of
        it by itself.
        """
        return max(self.calibration.tokens(self.own_count) + self.overhead - self._cleared, 0)

    @property
    def spoken(self) -> int:
        """Tokens of its messages, by our count."""
        return self.memory.state.sent.spoken

    @property
    def own_count(self) -> OwnCount:
        """What our counts say of its messages; a preset's own count may see only a part of one."""
        messages = self.memory.state.sent.messages
        version = self.memory.version
        last_count = self._counted
        if last_count.version != version or last_count.messages > len(messages):
            last_count = CountedMessages(version)
        new = messages[last_count.messages :]
        media = last_count.media + media_bytes(new)
        plain = last_count.plain
        is_counted_twice = self.count is not self.memory.reader.count
        if is_counted_twice:
            plain += sum(map(self.count, new))
        self._counted = CountedMessages(version, len(messages), plain, media)
        if is_counted_twice:
            return OwnCount(self.spoken, plain, media)
        return OwnCount(self.spoken, self.spoken, media)

    @property
    def own_window(self) -> int:
        """What a request may have, in tokens of our count."""
        return int(self.most / self.calibration.scale)

    @property
    def heaviest(self) -> int:
        """Tokens of the request by the preset's or by the host's count, whichever are more."""
        report = self._valid_report()
        beside_messages = self.declared_tokens
        if report is not None:
            unexplained = report.prompt - self.calibration.plain(report.count)
            beside_messages = max(unexplained, 0) - report.cleared
        messages = self.calibration.plain(self.own_count)
        return max(self.tokens, messages + beside_messages + self.memory.added)

    @property
    def overhead(self) -> int:
        """Tokens of it that no message holds."""
        report = self._valid_report()
        if report is None:
            return self._usual_overhead + self.memory.added
        return max(report.prompt - self.calibration.tokens(report.count), 0) + self.memory.added

    @property
    def _usual_overhead(self) -> int:
        return max(self.declared_tokens, self.least or 0)

    @property
    def window(self) -> int:
        """The window of the present model: as the host says, or less where an error said so
        lately.
        """
        window = self._host_window
        stated_window = self.windows.tokens(self.model)
        if stated_window is None:
            return window
        return min(stated_window, window)

    @property
    def quota(self) -> int | None:
        """Tokens above which no request passes, since a minute or a plan has no more, or since one
        of that size was refused as too large without a number; None where no error said so lately.
        """
        return self.quotas.tokens(self.model)

    @property
    def most(self) -> int:
        """Tokens that a request may have: the window, or less where a quota is smaller."""
        window = self.window
        quota = self.quota
        if quota is None:
            return window
        return min(quota, window)

    @property
    def _host_window(self) -> int:
        return self._known_window or self.preset.host.window

    @property
    def _known_window(self) -> int | None:
        """As the host says, or the table of models; None where neither does."""
        return self.settings.window or self.configured or window_by_name(self.model)

    @property
    def assumes_window(self) -> bool:
        """Whether nobody says how large the window is: no host, no table, and no error."""
        return self._known_window is None and self.windows.tokens(self.model) is None

    def learn(self, diagnosis: Diagnosis) -> int | None:
        """Remember the limit that an error stated if it is below the host's window; the window, or
        None where nothing is learned.

        One below a request that the model answered may be a smaller model's to which a gateway
        falls back. It is believed when it is stated again, or if the error names the model.
        """
        limit = diagnosis.limit
        if limit is None or not 0 < limit < self._host_window:
            return None
        is_quota = diagnosis.kind == "rate_permanent"
        if limit < self.accepted:
            names_model = self.model != "" and self.model in diagnosis.text
            if is_quota or not self.windows.learn_fallback(
                self.model, limit, is_certain=names_model
            ):
                return None
            return limit
        stated_limit = StatedLimit(self.model, limit)
        if is_quota:
            self.quotas.learn(stated_limit)
            return None
        self.windows.learn(stated_limit)
        return limit

    def bound(self, refused_tokens: int) -> None:
        """Keep later requests below one that was refused as too large without a number, as below a
        quota, unless the model answered a larger one.
        """
        if refused_tokens > self.accepted:
            self.quotas.learn(StatedLimit(self.model, refused_tokens - 1))

    def declare(self, system: Json, tools: Json, model: str) -> None:
        """Take in what is sent beside the messages, and to which model."""
        if (system, tools) != self._declared:
            texts = [str(declared) for declared in (system, tools) if declared is not None]
            text = "\n".join(texts)
            self.declared_tokens = 0
            if text:
                prompt = SystemMessage(id="", blocks=(Text(text),))
                self.declared_tokens = self.memory.reader.count(prompt)
            self._declared = (system, tools)
        if model != self.model:
            self.model = model
            self.memory.mending = Mending()
            self.request = None
            self.reported = None
            self.least = None
            self.calibration = NEUTRAL
            self.lightest = 0
            self.accepted = 0

    @property
    def declared(self) -> tuple[Json, Json]:
        """The system prompt and the tools beside the messages, as the host passed them."""
        return self._declared

    def hand_out(self) -> None:
        """The messages are about to be sent."""
        memory = self.memory
        count = self.own_count
        answers = memory.state.answers
        # our count may be so many times too high
        if self.request is not None and answers > self.request.answers:
            self._accept(int(LEAST_SCALE * self.request.tokens))
        self.request = SentRequest(
            memory.version,
            self.model,
            count.tokens,
            count.plain,
            added=memory.added,
            media=count.media,
            answers=answers,
        )
        self.sent_at = self.clock()
        self.requests += 1

    def stale(self, model: str) -> str:
        """Why a report by that model says nothing about the newest request; empty if it does."""
        if self.request is None:
            return "no request was handed out since the history or the model changed"
        if self.request.version != self.memory.version:
            return "the history was compacted or taken back since that request"
        if model and self.model and model != self.model:
            return f"the report is by {model!r}, the request was for {self.model!r}"
        return ""

    def take(self, usage: Usage, *, cleared: int = 0, overflow: bool = False) -> None:
        """Take in a report for the newest request, which may have been an overflow all the same."""
        if self.request is None or not usage.prompt:
            return
        self.reported = report = replace(self.request, usage=usage, cleared=cleared)
        overhead = overhead_of(report.prompt, report.count, self.declared_tokens, self._host_window)
        if self.least is None or report.tokens <= self.lightest:
            self.least, self.lightest = overhead, report.tokens
        else:
            self.least = min(self.least, max(report.prompt - report.tokens, 0))
        if not overflow:
            self._accept(usage.prompt)
        messages = report.prompt - self._usual_overhead
        missing = messages - self.calibration.tokens(report.count)
        # clearing is the provider's estimate
        if abs(missing) > SURELY_OVERHEAD * self.window and not cleared:
            self.calibration = Calibration.of(
                messages, report.count, smallest_scale=min(self.calibration.scale, 1.0)
            )

    def _accept(self, tokens: int) -> None:
        """The present model answered a request of so many tokens."""
        self.accepted = max(self.accepted, tokens)
        self.quotas.disprove(self.model, tokens)
        self.windows.end_fallbacks(self.model, tokens)

    def take_refusal(self, used: int | None) -> None:
        """Take in that the newest request was refused for its size, with the tokens that it had, if
        they were stated.

        A number that our count cannot explain is not believed. Then a request that seemed small
        filled the window.
        """
        request = self.request
        if request is None:
            return
        count, added = request.count, request.added
        if used is None or used < LEAST_SCALE * count.tokens:
            if self.heaviest > self.window / 2:
                return
            used = self.window
        calibration = Calibration.of(used - added - self._usual_overhead, count)
        explained = (
            calibration.tokens(count)
            + max(self._usual_overhead, int(MOST_OVERHEAD * self.window))
            + added
        )
        if used <= explained:
            self.calibration = calibration
            self.reported = replace(request, usage=Usage(input=used))

    def judge(self, usage: Usage | None, stop: str, cleared: int = 0) -> Diagnosis | None:
        """Whether the answer to the newest request hides an overflow; a prompt is no shorter for
        what was cleared.
        """
        report = self._valid_report()
        usage_before = None
        if report is not None and not cleared and not report.cleared:
            usage_before = report.usage
        grown = 0
        if report is not None and self.request is not None:
            tokens_before = report.tokens + report.added
            grown = self.request.tokens + self.request.added - tokens_before
        return classify_answer(usage, stop, self.window, usage_before, grown)

    def follow(self, version: int) -> None:
        """The history of this version has another system prompt now; what was sent and reported
        of it still holds.
        """
        present_version = self.memory.version
        if self.request is not None and self.request.version == version:
            self.request = replace(self.request, version=present_version)
        if self.reported is not None and self.reported.version == version:
            self.reported = replace(self.reported, version=present_version)

    def forget(self) -> None:
        """The history changed: what was sent and reported says nothing any more."""
        self.request = self.reported = None

    @property
    def trigger(self) -> Trigger:
        """The host's trigger, or the preset's."""
        return self.settings.trigger or self.preset.trigger

    def situation(self, moment: Moment, *, is_requested: bool = False) -> Situation:
        """What a trigger may look at now."""
        report = self._valid_report()
        state = self.memory.state
        reported = None
        if report is not None:
            reported = report.usage
        idle_seconds = None
        if self.sent_at is not None:
            idle_seconds = self.clock() - self.sent_at
        return Situation(
            tokens=self.tokens,
            window=self.window,
            overhead=self.overhead,
            moment=moment,
            messages=len(state.sent.messages),
            reported=reported,
            since=self._said_since(report),
            requested=is_requested,
            model=self.model,
            requests=state.answers,
            said=state.said,
            idle=idle_seconds,
        )

    def _said_since(self, report: SentRequest | None) -> int:
        """Tokens of what came after a report."""
        if report is None:
            return 0
        tokens_now = self.calibration.tokens(self.own_count)
        tokens_then = self.calibration.tokens(report.count)
        return max(tokens_now - tokens_then, 0)

    @property
    def _cleared(self) -> int:
        report = self._valid_report()
        if report is None:
            return 0
        return report.cleared

    def _valid_report(self) -> SentRequest | None:
        report = self.reported
        if report is None or report.version != self.memory.version:
            return None
        return report
