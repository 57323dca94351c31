"""What helps after a provider refused a request, and how often the same request may be tried
again.
"""

from dataclasses import replace

from workbench.engine.models.error_evidence import ProviderError
from workbench.engine.models.provider_errors import Diagnosis, classify
from workbench.engine.models.refused_request import RefusedRequest
from workbench.live.callbacks import Host
from workbench.live.events import ErrorJudged
from workbench.live.history_repair import HistoryRepair
from workbench.live.media import MediaBudget, media_of
from workbench.live.remedies import remedy
from workbench.live.runner import Runner

UNREADABLE = Diagnosis("other", "leave_alone")


class Recovery:
    """Judges errors, mends the history, and counts the retries of one request.

    Attributes:
        mended: the kind of error of each retry of the present request.
    """

    def __init__(self, runner: Runner, media: MediaBudget, host: Host) -> None:
        self.runner = runner
        self.gauge = runner.gauge
        self.media = media
        self.repair = HistoryRepair(runner, host.tell)
        self.tell = host.tell
        self.classify = host.guarded(
            "on_error", self._classified, lambda _: UNREADABLE, lambda _: True
        )
        self.mended: list[str] = []
        self.resent = 0

    def release(self) -> None:
        """A new request: its retries begin anew."""
        self.mended.clear()
        self.resent = 0
        self.repair.mending_before = None

    def judge(self, error: ProviderError, model: str) -> Diagnosis | None:
        """What the error of a request to that model says; None where it is not about the present
        request.
        """
        diagnosis = self._without_less_output(self.classify(error))
        is_for_another = model and self.gauge.model and model != self.gauge.model
        if self.gauge.request is None or is_for_another:
            self.tell(ErrorJudged(diagnosis))
            return None
        self.judged(diagnosis)
        return diagnosis

    def _without_less_output(self, diagnosis: Diagnosis) -> Diagnosis:
        """What an error says once less output did not help: the prompt alone is too large."""
        if diagnosis.kind != "mixed" or diagnosis.action not in self.mended:
            return diagnosis
        return replace(diagnosis, kind="overflow", action="compact", used=None, output=None)

    def _classified(self, error: ProviderError) -> Diagnosis:
        self.repair.read(error)
        overflow = self.gauge.preset.host.overflow
        return classify(error, overflow=overflow, request=self._refused_request())

    def _refused_request(self) -> RefusedRequest:
        """What is known of the newest request."""
        messages = self.gauge.memory.state.sent.messages
        media_count = 0
        for message in messages:
            media_count += len(list(media_of(message)))
        return RefusedRequest(
            tokens=self.gauge.heaviest,
            window=self.gauge.window,
            accepted=self.gauge.accepted,
            media=media_count,
            defects=self.repair.visible(),
        )

    def judged(self, diagnosis: Diagnosis) -> None:
        """Learn the limit that it states, and tell."""
        learned = None
        if diagnosis.action == "compact":
            learned = self.gauge.learn(diagnosis)
        self.tell(ErrorJudged(diagnosis, learned))

    def wait(self, diagnosis: Diagnosis) -> float | None:
        """Seconds to wait before the next try, once what helps is done; None where nothing helps
        any more.
        """
        if diagnosis.action == "leave_alone":
            self.repair.look_again(diagnosis)
        if diagnosis.action in ("back_off", "leave_alone"):
            retries = self.gauge.preset.host.retries
            if retries is None:
                return None
            wait = retries.wait(diagnosis.text, self.resent)
            if wait is not None:
                self.resent += 1
            return wait
        kind = self._kind(diagnosis)
        tries = self.mended.count(kind)
        refused_tokens = self.gauge.heaviest
        if tries < self.gauge.settings.retries and self._is_mended(diagnosis):
            self.mended.append(kind)
            # a system that is restated reads overflows as it does, and learns no size from them
            is_ours = self.gauge.preset.host.overflow is None
            if is_ours and diagnosis.kind == "overflow" and diagnosis.limit is None:
                self.gauge.bound(refused_tokens)
            return 0.0
        if diagnosis.action == "repair":
            self.repair.give_up()
        if diagnosis.action == "compact":
            self.runner.fail("overflow", diagnosis.text, "error")
        return None

    def _kind(self, diagnosis: Diagnosis) -> str:
        """What helps against an error, and what it says is broken: each is mended by itself."""
        window = self.gauge.window
        if diagnosis.action == "compact" and diagnosis.limit == window:
            return f"compact to {window}"
        if diagnosis.action != "repair":
            return diagnosis.action
        defects = sorted(self.repair.named)
        fields = map(".".join, self.repair.extra_fields)
        return ", ".join(
            [
                "repair",
                *defects,
                *sorted(fields),
            ]
        )

    def _is_mended(self, diagnosis: Diagnosis) -> bool:
        """Do what helps; whether the next request differs from the refused one."""
        if diagnosis.action == "repair":
            return self.repair.mend(diagnosis)
        if diagnosis.action == "strip_media" and self.media.lighten(diagnosis):
            return True
        return remedy(self.runner, diagnosis)
