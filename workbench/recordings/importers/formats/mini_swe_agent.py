"""mini-swe-agent's trajectories, whose actions are commands in fenced blocks of the text, or calls
since version 2.

Source: SWE-agent/mini-swe-agent, `agents/default.py` and `utils/serialize.py`. A trajectory is one
JSON document with `info` and `messages`; old ones are the bare list of messages. The model that
gave an answer, and the tokens that it used, stand in the answer's `extra.response`, as litellm
reports them.
"""

import re
from collections.abc import Iterator

from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import text_block
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.reported_usage import answers_of
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.text_calls import call_parts
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import (
    Record,
    as_object,
    items,
    label,
    mapping,
    objects,
    text,
)

ASIDE = "info messages.extra trajectory_format instance_id"
"""Fields that no model was sent."""
_ACTION = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\n(?P<command>.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(?P<code>-?\d+)</returncode>")


def knows(head: Head) -> bool:
    """Whether it names the agent, begins with how a run of it ended, or shows a command in its
    own fence.
    """
    if head.is_list:
        return "```mswea_bash_command" in head.text and "role" in head.keys
    if "trajectory_format" in head.keys and "mini-swe-agent" in head.text:
        return True
    if not head.keys <= {"info", "messages"} or '"exit_status"' not in head.text:
        return False
    return '"submission"' in head.text or '"mini_version"' in head.text


def sessions(source: SourceFile) -> Iterator[Session]:
    """The one session of a trajectory."""
    document = source.document()
    holder = {"messages": document} if isinstance(document, list) else as_object(document)
    builder = MiniSweAgentBuilder(source)
    with source.at():
        builder.begin(holder)
    with source.at():
        builder.read_all(items(holder, "messages"), "messages")
    with source.at():
        yield from builder.sessions()


class MiniSweAgentBuilder(ChatBuilder):
    """Reads messages: the user's first is the task, all others are the client's or what a
    command printed.
    """

    about = {"title": "instance_id"}
    usage_fields = OPENAI_USAGE
    has_task = has_ended = False
    previous_role = ""
    request_count = 0

    def begin(self, document: Record) -> None:
        """Read how many requests the run made."""
        super().begin(document)
        request_count = self.source.count(document, "info/model_stats/api_calls")
        if request_count is not None:
            self.request_count = request_count

    def close(self) -> None:
        """Tell how many requests have no answer here."""
        answers = answers_of(self.log)
        missing = self.request_count - len(answers)
        if missing > 0:
            self.source.note(
                f"{missing} of {self.request_count} requests have no answer in the file, and their "
                "tokens are in no bill",
                field="info.model_stats.api_calls",
            )

    def read(self, record: Record) -> None:
        """Read one message. `exit` is the client's, and ends the run."""
        if self.has_ended:
            self.source.note("stands after the end of the run", field="role")
        extra = mapping(record, "extra")
        role = text(record, "role")
        if role == self.previous_role == "assistant":
            self.source.note("follows another answer, with nothing between them", field="role")
        self.previous_role = role
        timed = {"timestamp": extra.get("timestamp"), **record}
        words = label(record, "content")
        match role:
            case "assistant":
                response = mapping(extra, "response")
                timed["usage"] = response.get("usage")
                timed["model"] = response.get("model")
                timed["content"] = _parts(record)
                super().read(timed)
            case "user" if self.open_calls:
                self.time = self.source.time(timed, "timestamp")
                self.say_result("", text_block(words), failed=_has_failed(words))
            case "user":
                if _RETURN_CODE.search(words):
                    self.source.note(
                        "is what a command printed, and no command stands before it",
                        field="content",
                    )
                self._refused_answer(mapping(extra, "response"), timed.get("timestamp"))
                self.synthetic = self.has_task
                self.has_task = True
                super().read(timed)
            case "tool":
                failed = _has_failed(words)
                if extra.get("returncode") is not None:
                    failed = extra["returncode"] != 0
                timed["is_error"] = failed
                super().read(timed)
            case "exit":
                self.has_ended = True
                self.time = self.source.time(timed, "timestamp")
                self.note("exit", words)
            case _:
                super().read(timed)

    def _refused_answer(self, response: Record, timestamp: Json) -> None:
        """Read an answer that the client could not use, on a branch of its own: later requests
        have only what the client said about it.
        """
        leaf = self.log.leaf
        open_calls = dict(self.open_calls)
        for choice in objects(response, "choices"):
            answer = dict(mapping(choice, "message"))
            answer["timestamp"] = timestamp
            answer["model"] = response.get("model")
            answer["usage"] = response.get("usage")
            super().read(answer)
        self.open_calls = open_calls
        self.log.leaf = leaf


def _parts(answer: Record) -> Json:
    """An answer's content; where its text has exactly one command, this is a call, as the agent
    takes it.
    """
    words = answer.get("content")
    if not isinstance(words, str) or answer.get("tool_calls"):
        return words
    actions = list(_ACTION.finditer(words))
    if len(actions) != 1:
        return words
    action = actions[0]
    command = {"command": action["command"]}
    return call_parts(words, action.start(), action.end(), "bash", command)


def _has_failed(printed: str) -> bool:
    """Whether the command failed that printed this."""
    return_code = _RETURN_CODE.search(printed)
    return return_code is not None and return_code["code"] != "0"


MINI_SWE_AGENT = Format(
    name="mini_swe_agent",
    description="mini-swe-agent trajectories (JSON)",
    carries=("calls", "usage", "times", "model", "system"),
    knows=knows,
    sessions=sessions,
    aside=ASIDE,
)
