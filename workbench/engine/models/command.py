"""Asks a program: the prompt goes to its standard input, and its standard output is the answer."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile
from threading import Thread
from typing import IO

from workbench.base.errors import ModelError, SettingError, SetupError
from workbench.engine.models.language_model import LanguageModel, with_retries
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.plain_text import plain_text, within_limit
from workbench.engine.models.provider_options import ProviderOptions, provider_options
from workbench.engine.models.tokenizer import TiktokenCounter

MOST_BYTES = 4_000_000
"""Of an answer; a program that writes more is stopped, and its answer ends there."""
REASON_BYTES = 8_000
"""Of what a program writes to standard error, the last of which are kept."""
LONGEST_REASON = 300
GRACE = 30.0
"""Seconds after its time limit within which a program is stopped."""
BLOCK = 65_536
HIDDEN = "HIDDEN"
"""What is shown in the place of a secret."""

_ESCAPE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")
"""What colours a terminal."""
_SECRET = re.compile(
    r"(?:^|[_-])(?:api_?key|key|token|secret|password|passwd|credentials?|auth)$", re.IGNORECASE
)
"""How the name of an option or variable ends whose value is nobody's business."""


@dataclass(frozen=True)
class Command(LanguageModel):
    """A program that answers; `model` is its command line, as `claude -p`. It needs no shell."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments.

        Raises:
            SettingError: there is no program, or a quotation mark is not closed.
        """
        return command_words(self.model)

    @cached_property
    def name(self) -> str:
        """Name shown in reports."""
        return f"command:{without_secrets(self.model)}"

    def check(self) -> None:
        """Refuse a program that is not here.

        Raises:
            SetupError: it is not installed.
        """
        if shutil.which(self.words[0]) is None:
            program = repr(self.words[0])
            raise SetupError(
                f"there is no program {program} to run {self.name}; install it, or write where"
                " it is"
            )

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """The command line: whatever else the answer depends on, only the program knows."""
        return {"command": self.words}

    def window(self, request: SummaryRequest, /) -> int | None:
        """The tokens that the models file says it takes; None where it does not say."""
        return self._options.window

    @property
    def patience(self) -> float:
        """Seconds after which an answer must have come or failed."""
        return self._options.tries * (self._options.timeout + self._options.longest_wait) + GRACE

    @property
    def _options(self) -> ProviderOptions:
        return self.options or provider_options(self.name)

    def complete(self, request: SummaryRequest, /) -> Completion:
        """What the program wrote.

        Raises:
            ModelError: it failed as often as it was tried.
            Unanswered: a spending limit is set, and nobody knows what the answer costs.
            SetupError: it cannot be started.
        """
        options, prompt = self._options, plain_text(request)
        return with_retries(options, lambda: self._attempt(request, prompt, options))

    def _attempt(
        self, request: SummaryRequest, prompt: str, options: ProviderOptions
    ) -> Completion:
        """Ask once, and write down that it was asked."""
        number = 0
        if self.ledger:
            number = self.ledger.open(self.name, None, options.timeout + GRACE)
        failed = f"the run of {self.name} was interrupted"
        try:
            completion = self._answer(request, prompt, options.timeout)
            failed = ""
            return completion
        except ModelError as error:
            failed = str(error)
            raise
        finally:
            if self.ledger:
                self.ledger.close(number, None, failed)

    def _answer(self, request: SummaryRequest, prompt: str, seconds: float) -> Completion:
        try:
            run = run_program(self.words, prompt.encode(), seconds)
        except OSError as error:
            raise SetupError(f"{self.name} cannot be started: {error.strerror or error}") from error
        if run.is_late:
            raise ModelError(
                f"{self.name} gave no answer in {seconds:g} seconds{run.reason}", retryable=True
            )
        if run.code and not run.is_too_long:
            raise ModelError(
                f"{self.name} ended with {_ending(run.code)}{run.reason}", retryable=True
            )
        try:
            answer = run.output.decode("utf-8-sig", "ignore" if run.is_too_long else "strict")
        except UnicodeDecodeError as error:
            problem = f"{self.name} wrote something that is no UTF-8 text, at byte {error.start:,}"
            raise ModelError(problem, retryable=True) from None
        text, is_cut = within_limit(answer, request)
        count = TiktokenCounter().count_text
        return Completion(
            text=text,
            model=self.name,
            input_tokens=count(prompt),
            output_tokens=count(text),
            usd=None,
            cut=is_cut or run.is_too_long,
            counted=True,
            why="" if text else f"it wrote nothing{run.reason}",
        )


def command_words(line: str) -> tuple[str, ...]:
    """The words of a command line, as a shell would take it apart.

    Raises:
        SettingError: there are none, or a quotation mark is not closed.
    """
    try:
        words = tuple(shlex.split(line, posix=os.name != "nt"))
    except ValueError as error:
        raise SettingError(f"the command {line!r} cannot be read: {str(error).lower()}") from None
    if not words:
        raise SettingError('command needs a program, such as "command:claude -p"')
    return words


def without_secrets(line: str) -> str:
    """A command line as it may be shown: what looks or is named like a secret is masked."""
    from workbench.engine.transcript.redaction import Redactor  # it takes long to load

    redactor = Redactor(kinds=frozenset())
    words = command_words(line)
    shown_words = list[str]()
    for option, word in zip(("", *words), words, strict=False):
        name, equals, _ = word.partition("=")
        if equals and _SECRET.search(name):
            shown_words.append(f"{name}={HIDDEN}")
        elif option.startswith("-") and "=" not in option and _SECRET.search(option):
            shown_words.append(HIDDEN)
        else:
            shown_words.append(redactor.mask(word))
    masked = redactor.mask(shlex.join(shown_words))
    if masked == shlex.join(words):
        return line.strip()
    return masked


def _ending(code: int) -> str:
    """An exit code in words."""
    if code > 0:
        return f"exit code {code}"
    return f"signal {-code}"


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What came of a program.

    Attributes:
        output: what it wrote, as far as it was read.
        complaint: the end of what it wrote to standard error.
        code: its exit code, below 0 for a signal.
        is_late: whether it was stopped for its time.
        is_too_long: whether it was stopped for the length of what it wrote.
    """

    output: bytes
    complaint: bytes
    code: int
    is_late: bool = False
    is_too_long: bool = False

    @property
    def reason(self) -> str:
        """The last line of its standard error behind a colon; empty where there is none."""
        lines = _ESCAPE.sub(b"", self.complaint).decode("utf-8", "replace").splitlines()
        for line in reversed(lines):
            if line.strip():
                words = " ".join(line.split())
                return f": {words[:LONGEST_REASON]}"
        return ""


def run_program(words: tuple[str, ...], text: bytes, seconds: float) -> ProgramRun:
    """Run a program on a text, within a time and a length of its output.

    What it started ends with it.

    Raises:
        OSError: it cannot be started.
    """
    deadline = time.monotonic() + seconds
    with TemporaryFile() as stdin:
        stdin.write(text)
        stdin.seek(0)
        process = subprocess.Popen(
            words,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    assert process.stdout is not None and process.stderr is not None
    output = _Reader(process.stdout, MOST_BYTES, keeps_end=False)
    complaint = _Reader(process.stderr, REASON_BYTES, keeps_end=True)
    try:
        output.join(seconds)
        is_late = output.is_alive()
        is_too_long = output.is_full
        if not is_late and not is_too_long:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(deadline - time.monotonic(), 0.0))
            is_late = process.poll() is None
    finally:
        _stop(process)
        complaint.join(1.0)
    return ProgramRun(
        bytes(output.content), bytes(complaint.content), process.returncode, is_late, is_too_long
    )


class _Reader(Thread):
    """Reads a pipe; stops after so many bytes, or keeps so many bytes of its end."""

    def __init__(self, pipe: IO[bytes], max_bytes: int, *, keeps_end: bool) -> None:
        super().__init__(daemon=True)
        self.content = bytearray()
        self.is_full = False
        self._pipe, self._most, self._keeps_end = pipe, max_bytes, keeps_end
        self.start()

    def run(self) -> None:
        with self._pipe:
            while block := os.read(self._pipe.fileno(), BLOCK):
                self.content += block
                if self._keeps_end:
                    del self.content[: -self._most]
                elif len(self.content) > self._most:
                    del self.content[self._most :]
                    self.is_full = True
                    return


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
