"""How the objects that people hold show themselves: short in text, escaped and readable in HTML."""

from html.parser import HTMLParser

import pytest
from preset_names import BUILTIN_PRESETS

from builders import called, said, told
from workbench import AssistantMessage, Compaction, Replay, Session, Text, preset, replay
from workbench.engine.transcript.message import Message

HOSTILE = (
    "<script>window.hit=1</script><img src=x"
    ' onerror="window.hit=1"></td></table><style>*{display:none}</style>\x1b[31m\x00'
    " [a](javascript:alert(1))"
)


def talk(text: str, n: int = 60) -> Session:
    messages: list[Message] = []
    for i in range(n):
        messages += [
            said(f"{text} {i} " + "word " * 40, id=f"u{i}"),
            AssistantMessage(id=f"a{i}", blocks=(Text(f"done {text}"),)),
        ]
    return Session.of(messages, id=text, title=text)


@pytest.fixture(scope="module")
def done() -> Replay:
    return replay(talk(HOSTILE), "pipeline", window=3_000)


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.events: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.events += [name for name, _ in attrs if name.startswith("on")]


def html_of(thing: object) -> str:
    return str(thing._repr_html_())  # type: ignore[attr-defined]


def test_hostile_words_stay_words_in_every_object(done: Replay) -> None:
    shown = [html_of(one) for one in (done.session, done, done.compactions[0], preset("pipeline"))]
    for html in shown:
        tags = Tags(html)
        assert not {"script", "img", "style", "a"} & set(tags.found) and not tags.events
        assert tags.found.count("table") == 1 and html.count("</table>") == 1
        assert "\x1b" not in html and "\x00" not in html
    assert "&lt;script&gt;" in shown[0] and "&lt;script&gt;" in shown[1]


def test_plain_text_is_one_short_line_without_control_characters(done: Replay) -> None:
    for one in (done.session, done, done.compactions[0], preset("pipeline")):
        assert "\n" not in repr(one) and "\x1b" not in repr(one) and len(repr(one)) < 300


def test_a_session_says_what_it_holds_and_shows_its_beginning() -> None:
    session = Session.of(
        [said("fix the bug"), called("read", path="a.py"), told("text of a.py")],
        id="s",
        title="A bug",
    )
    assert repr(session) == "<Session 's': messages 3, requests 2, format built>"
    html = html_of(session)
    assert (
        "A bug" in html
        and "fix the bug" in html
        and "calls read: a.py" in html
        and "more messages" not in html
    )
    assert "and 112 more messages" in html_of(talk("x"))


def test_a_line_of_a_megabyte_is_clipped() -> None:
    session = Session.of([said("long " * 200_000)], id="s")
    assert len(html_of(session)) < 2_000


def test_a_replay_says_when_it_compacted_and_what_that_saved(done: Replay) -> None:
    assert done.saved is not None and 0 < done.saved < 1
    html = html_of(done)
    assert f"{100 * done.saved:.0f} %" in html and html.count("<tr>") == 1 + len(done.events)
    assert "never compacted" in html_of(replay(talk("x", 2), "none"))
    assert replay(talk("x", 2), "none").saved == 0


def test_a_compaction_says_what_each_stage_did(done: Replay) -> None:
    compaction: Compaction = done.compactions[0]
    html = html_of(compaction)
    assert all(
        record.name in html and f"{record.tokens_after:,}" in html for record in compaction.stages
    )
    assert f"{compaction.before.tokens:,}" in repr(compaction)


@pytest.mark.parametrize("name", BUILTIN_PRESETS)
def test_every_preset_says_when_it_compacts_and_what_its_stages_do(name: str) -> None:
    one = preset(name)
    html = html_of(one)
    assert all(stage.name in html for stage in (*one.strategy.stages, *one.strategy.view))
    assert name in repr(one) and type(one.trigger).__name__ in html


def test_a_card_leaves_out_what_is_not_known() -> None:
    html = html_of(Session.of([said("hi", f"u{i}") for i in range(1_234)]))
    assert "messages <b>1,234</b>" in html and "requests <b>0</b>" in html
    assert "model" not in html and "window" not in html
