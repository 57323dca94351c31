"""A program answers: what it reads, and what becomes of it when it fails, hangs or writes too
much.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from engine.models.programs import counting, program, starts

from workbench import (
    Completion,
    Model,
    ModelError,
    ModelSettings,
    SettingError,
    SetupError,
    SummaryRequest,
    Unanswered,
    find_model,
)
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.wrappers import requests_of
from workbench.evaluation.experiment.spec import RunSpec

MODELS_FILE = "WORKBENCH_MODELS"

QUICK = ProviderOptions(tries=3, first_wait=0.01, timeout=20.0)
SLOW = ProviderOptions(tries=1, timeout=0.5)


def request(prompt: str = "Summarise this.", most: int | None = 100) -> SummaryRequest:
    return SummaryRequest(
        purpose="question", system="You summarise.", write=lambda _: prompt, max_tokens=most
    )


def program_model(line: str, **fields: Any) -> Model:
    """The model behind a command line, asked in this way."""
    model = find_model(f"command:{line}")
    assert is_dataclass(model) and not isinstance(model, type)
    return replace(model, **fields)


def answer(
    line: str, how: ProviderOptions = QUICK, asked: SummaryRequest | None = None
) -> Completion:
    return program_model(line, options=how).complete(asked or request())


def test_a_program_reads_system_prompt_prompt_and_limit_as_one_text(tmp_path: Path) -> None:
    completion = answer(program(tmp_path, "print(asked.upper())"))
    assert (
        completion.text == "YOU SUMMARISE.\n\nSUMMARISE THIS.\n\n"
        "THE ANSWER MAY HAVE 100 TOKENS (ABOUT 75 WORDS) AT MOST; WHAT IS LONGER IS CUT OFF."
    )


def test_its_tokens_are_counted_here_and_its_dollars_are_unknown(tmp_path: Path) -> None:
    completion = answer(program(tmp_path, "print('It is shipped.')"))
    assert (completion.input_tokens, completion.output_tokens, completion.counted) == (32, 4, True)
    assert completion.usd is None and completion.seconds > 0


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    line = program(tmp_path, "print(sys.argv[1:])") + " 'a b' $HOME ; touch x > y"
    assert answer(line).text == "['a b', '$HOME', ';', 'touch', 'x', '>', 'y']"
    assert not Path("x").exists()


def test_a_failure_is_tried_again(tmp_path: Path) -> None:
    assert (
        answer(counting(tmp_path, "sys.exit(3) if tries < 2 else print('at last')")).text
        == "at last"
    )
    assert starts(tmp_path) == 2


def test_a_program_that_always_fails_is_named_with_its_last_words(tmp_path: Path) -> None:
    body = (
        "print('Traceback', '\\x1b[31mno credit\\x1b[0m', '', sep='\\n',"
        " file=sys.stderr)\nsys.exit(3)"
    )
    with pytest.raises(
        ModelError, match=r"answers\.py ended with exit code 3: no credit$"
    ) as caught:
        answer(counting(tmp_path, body))
    assert caught.value.outage, "it says nothing about the model"
    assert starts(tmp_path) == QUICK.tries


def test_a_program_that_dies_is_named_with_its_signal(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="ended with signal 9"):
        answer(program(tmp_path, "os.kill(os.getpid(), 9)"))


def test_a_program_that_hangs_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = f"""
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(pids)!r}, "w").write(str(child.pid))
time.sleep(60)
"""
    started = time.monotonic()
    with pytest.raises(ModelError, match="gave no answer in 2 seconds"):
        answer(program(tmp_path, body), replace_timeout(2.0))
    assert time.monotonic() - started < 30
    assert not is_running(int(pids.read_text()))


def replace_timeout(seconds: float) -> ProviderOptions:
    return SLOW.model_copy(update={"timeout": seconds})


def is_running(pid: int) -> bool:
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.1)
    return True


def test_a_program_that_closes_its_output_and_stays_is_late(tmp_path: Path) -> None:
    body = "print('x', flush=True)\nos.close(1)\ntime.sleep(60)"
    with pytest.raises(ModelError, match="gave no answer in 2 seconds"):
        answer(program(tmp_path, body), replace_timeout(2.0))


def test_of_300_megabytes_the_beginning_is_taken_and_the_rest_is_never_read(tmp_path: Path) -> None:
    body = (
        "for _ in range(300): sys.stdout.write('word ' * 200_000); sys.stdout.flush()\nopen('done',"
        " 'w')"
    )
    completion = answer(program(tmp_path, body))
    assert (
        completion.cut
        and completion.output_tokens == 100
        and completion.text.startswith("word word")
    )
    assert not Path("done").exists(), "it was stopped"
    unbounded = answer(program(tmp_path, body), asked=request(most=None))
    assert unbounded.cut and len(unbounded.text) <= 4_000_000


def test_much_on_standard_error_does_no_harm(tmp_path: Path) -> None:
    assert (
        answer(program(tmp_path, "sys.stderr.write('noise\\n' * 1_000_000)\nprint('fine')")).text
        == "fine"
    )


def test_a_program_that_does_not_read_its_prompt_may_answer(tmp_path: Path) -> None:
    path = tmp_path / "deaf.py"
    path.write_text("print('fine')")
    assert answer(f"{sys.executable} -S {path}", asked=request("x" * 3_000_000)).text == "fine"


def test_an_answer_above_its_limit_is_cut_as_a_provider_cuts_it(tmp_path: Path) -> None:
    completion = answer(program(tmp_path, "print('word ' * 300)"))
    assert completion.cut and completion.output_tokens == 100


def test_nothing_written_is_an_empty_answer_with_its_reason(tmp_path: Path) -> None:
    completion = answer(program(tmp_path, "print('quota', file=sys.stderr)"))
    assert (completion.text, completion.why) == ("", "it wrote nothing: quota")


def test_what_is_no_text_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="wrote something that is no UTF-8 text, at byte 3"):
        answer(program(tmp_path, "sys.stdout.buffer.write(b'caf\\xe9')"))


def test_a_missing_program_is_one_sentence_before_anything_is_asked(tmp_path: Path) -> None:
    model_settings = ModelSettings(cache=tmp_path)
    with pytest.raises(SetupError) as caught:
        model_settings.model("command:no-such-program -p")
    assert (
        str(caught.value)
        == "there is no program 'no-such-program' to run command:no-such-program -p; install it, or"
        " write where it is"
    )
    assert replace(model_settings, cache_only=True).model("command:no-such-program -p"), (
        "nothing would be run"
    )


def test_a_program_that_cannot_be_started_is_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    with pytest.raises(SetupError, match="broken cannot be started: Exec format error"):
        answer(str(broken))


@pytest.mark.parametrize(
    ("line", "why"), [("", "needs a program"), ("claude 'x", "no closing quotation")]
)
def test_a_command_line_that_names_no_program_is_refused(line: str, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        find_model(f"command:{line}")


@pytest.mark.parametrize(
    "line",
    [
        "llm --key sk-abcdefghijklmnopqrstuvwxyz012345", "env OPENAI_API_KEY=zyxw1234 llm", "llm --token=zyxw1234",
        "llm --api-key zyxw1234", "curl -H 'Authorization: Bearer zyxwQ7Rk2mVx9TzLw4Hn'",
    ],
)  # fmt: skip
def test_its_name_shows_no_secret(line: str) -> None:
    name = find_model(f"command:{line}").name
    assert not any(secret in name for secret in ("abcdef", "zyxw"))


def test_its_name_is_the_command_line(tmp_path: Path) -> None:
    line = "ollama run 'a b' --max-tokens 400 --key-file k"
    assert find_model(f"command:{line}").name == f"command:{line}"


def test_a_comma_in_a_command_line_separates_no_models() -> None:
    text = "command:claude -p --tools Read,Bash,extractive,command:llm -m a,b"
    assert RunSpec(model=text).model == (
        "command:claude -p --tools Read,Bash",
        "extractive",
        "command:llm -m a,b",
    )


def test_an_answer_is_cached_by_command_line_and_request(tmp_path: Path) -> None:
    model_settings = ModelSettings(cache=tmp_path / "cache", run="r")
    line = counting(tmp_path, "print(f'answer {tries}')")
    for _ in range(2):
        assert model_settings.model(f"command:{line}").complete(request()).text == "answer 1"
    assert model_settings.model(f"command:{line} -x").complete(request()).text == "answer 2"
    assert model_settings.model(f"command:{line}").complete(request("another")).text == "answer 3"


def test_the_ledger_counts_its_calls_with_unknown_dollars(tmp_path: Path) -> None:
    model = ModelSettings(cache=tmp_path, run="r").model(f"command:{program(tmp_path, 'print(1)')}")
    model.complete(request())
    asked = requests_of(model)
    assert ModelSettings(cache=tmp_path, run="r").ledger.paid(asked) == {asked[0]: None}


def test_a_spending_limit_cannot_be_kept_where_no_price_is_known(tmp_path: Path) -> None:
    line = counting(tmp_path, "print(1)")
    with pytest.raises(Unanswered, match="its price is unknown"):
        ModelSettings(cache=tmp_path, run="r", max_usd=5.0).model(f"command:{line}").complete(
            request()
        )
    assert starts(tmp_path) == 0


def test_no_more_programs_run_at_once_than_may(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    body = f"""
mine = os.path.join({str(marks)!r}, str(os.getpid()))
open(mine, "w").close()
print(len(os.listdir({str(marks)!r})))
time.sleep(0.2)
os.remove(mine)
"""
    ledger = Ledger(tmp_path / "answers.sqlite", "r", concurrency=2)
    model = program_model(program(tmp_path, body), options=QUICK, ledger=ledger)
    with ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda n: model.complete(request(f"{n}")).text, range(6)))
    assert max(map(int, texts)) <= 2


def test_how_often_and_how_long_is_said_as_for_providers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = counting(tmp_path, "sys.exit(1)")
    (tmp_path / "models.toml").write_text(
        f"[models.{f'command:{line}'!r}]\ntries = 2\nfirst_wait = 0.0\nwindow = 99\n"
    )
    monkeypatch.setenv(MODELS_FILE, str(tmp_path / "models.toml"))
    model = find_model(f"command:{line}")
    with pytest.raises(ModelError):
        model.complete(request())
    assert starts(tmp_path) == 2
    assert model.window(request()) == 99  # type: ignore[attr-defined]  # of a language model


def test_what_it_needs_of_the_environment_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHO", "me")
    assert (
        answer(program(tmp_path, "print(os.environ['WHO'], os.getcwd())")).text
        == f"me {Path.cwd()}"
    )
