"""Agno (1.7, 2.3 and 3.1): runs, and in each the messages of its requests."""

import re
from collections.abc import Iterator

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.blocks import thought_block
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_tables import (
    SessionTables,
    database_format,
)
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.sqlite import MAGIC
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_list,
    as_mapping,
    as_object,
    identifier,
    items,
    label,
    mapping,
    objects,
)

_OF_A_SESSION = frozenset({"session_id", "session_data", "created_at"})
_OF_AGNO = frozenset({"agent_data", "team_data"})
_OF_RUNS = frozenset({"session_id", "run_data", "run_index"})


class AgnoTables:
    """The tables of a database that have sessions. Their names are the program's own choice, so
    they are known by their columns.
    """

    def knows(self, head: Head) -> bool:
        """Whether a file is a database with such a table."""
        return head.text.startswith(MAGIC) and bool(_session_tables(head.text))

    def documents(self, source: SourceFile) -> Iterator[JsonObject]:
        """The columns of each conversation, with its runs as `messages`.

        Raises:
            FormatError: the database cannot be read.
        """
        head = next(source.heads())
        for session_table in _session_tables(head.text):
            for document in session_table.documents(source):
                yield from _conversations(document)


def _conversations(document: JsonObject) -> Iterator[JsonObject]:
    """The session; of one of version 1 each conversation in it. A run to which its model was sent
    nothing of those before begins one: version 1 keeps with a run all that was sent.
    """
    conversations: list[list[Json]] = []
    for row in objects(document, "messages"):
        memory = as_mapping(row.get("runs"))
        for run in items(memory, "runs"):
            if not conversations or _is_alone(as_mapping(run)):
                conversations.append([])
            conversations[-1].append(run)
    if not conversations:
        yield document
    session_id = identifier(document, "session_id")
    for number, runs in enumerate(conversations, 1):
        conversation_id = session_id
        if number > 1:
            conversation_id += f"-{number}"
        yield {**document, "session_id": conversation_id, "messages": [{"runs": runs}]}


def _is_alone(run: Record) -> bool:
    """Whether a run was sent messages, and none of an earlier run."""
    messages = items(run, "messages")
    for message in messages:
        if as_mapping(message).get("from_history") is True:
            return False
    return bool(messages)


def _session_tables(statements: str) -> list[SessionTables]:
    """The tables of sessions among those that these statements make: version 1 has the runs of a
    session in its memory, version 2 in a column, version 3 in a table of their own.
    """
    columns = _columns_of_tables(statements)
    runs_tables = [name for name, names in columns.items() if names >= _OF_RUNS]
    session_tables: list[SessionTables] = []
    for table, names in columns.items():
        is_of_agno = bool(runs_tables) or not names.isdisjoint(_OF_AGNO)
        if not names >= _OF_A_SESSION or not is_of_agno:
            continue
        if "runs" in names:
            runs = f'SELECT runs FROM "{table}" WHERE session_id = ?'
        elif "memory" in names:
            runs = f'SELECT memory AS runs FROM "{table}" WHERE session_id = ?'
        elif runs_tables:
            runs = (
                f'SELECT run_data AS runs FROM "{runs_tables[0]}" WHERE session_id = ?'
                " ORDER BY run_index"
            )
        else:
            continue
        sessions = f'SELECT *, session_id AS id FROM "{table}" ORDER BY created_at, session_id'
        session_table = SessionTables((), sessions, runs, json=("runs",))
        session_tables.append(session_table)
    return session_tables


def _columns_of_tables(statements: str) -> dict[str, set[str]]:
    """Of each table that these statements make, the words in its statement."""
    columns: dict[str, set[str]] = {}
    for statement in statements.split("CREATE TABLE ")[1:]:
        table, *names = re.findall(r"\w+", statement)
        columns[table] = set(names)
    return columns


AGNO_ASIDE = (
    "session_data agent_data team_data workflow_data extra_data metadata runs memory "
    "messages.runs.agent_name messages.runs.content messages.runs.tools messages.runs.events "
    "messages.runs.formatted_tool_calls messages.runs.session_state messages.runs.memories "
    "messages.runs.summaries messages.runs.member_responses.agent_name "
    "messages.runs.member_responses.content messages.runs.member_responses.tools "
    "messages.runs.member_responses.events messages.runs.member_responses.formatted_tool_calls"
)
"""What Agno keeps beside its messages; the content of a run repeats its answers, `runs` or `memory`
of a session all of `messages.runs`.
"""


class AgnoBuilder(DescribedBuilder):
    """Reads the runs of one session; a run of a team's member is a sub-agent's.

    Attributes:
        instructions: the newest ones of each speaker.
    """

    about = {"id": "session_id"}
    shape = MessageShape(time="created_at", failed="tool_call_error", usage_in="metrics")
    usage_fields = UsageFields(
        "input_tokens",
        "output_tokens",
        "cache_read_tokens cached_tokens prompt_tokens_details/cached_tokens",
        "cache_write_tokens",
        reasoning="reasoning_tokens",
        total="total_tokens",
        cache_in_input=True,
    )

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.instructions: dict[str, str] = {}

    def read(self, record: Record) -> None:
        """Read one row: a run, or all of a session."""
        runs = decode_or(record.get("runs"), record.get("runs"))
        for run in as_list(runs):
            self._read_run(as_object(run, "runs"))

    def _read_run(self, run: Record) -> None:
        if identifier(run, "parent_run_id"):
            self.turn_to(identifier(run, "run_id"))
        messages = objects(run, "messages")
        for message in messages:
            if message.get("from_history") is True:
                continue
            for part in self._parts(message):
                self._read_message_of(run, part)
        if not messages:
            self._read_unfinished(run)
        self.turn_to("")
        for member_run in objects(run, "member_responses"):
            self._read_run({"parent_run_id": run.get("run_id"), **member_run})

    def _parts(self, message: Record) -> Iterator[Record]:
        """The message; of one with the results of several calls, as Gemini is sent them, a message
        for each.
        """
        results = objects(message, "tool_calls")
        if message.get("role") != "tool" or not results:
            yield message
            return
        for result in results:
            name = label(result, "tool_name")
            call_id = identifier(result, "tool_call_id")
            yield {
                **message,
                "tool_calls": None,
                "tool_name": name,
                "tool_call_id": call_id or self._open_call_of(name),
                "content": result.get("content"),
            }

    def _open_call_of(self, tool: str) -> str:
        """The id of the oldest call of a tool that has no result; empty where there is none."""
        for call_id in self.open_calls:
            if self.names[call_id] == tool:
                return call_id
        return ""

    def _read_message_of(self, run: Record, message: Record) -> None:
        """Read a message that is new in this run; instructions are said once."""
        if message.get("role") == "system":
            instructions = label(message, "content")
            if instructions == self.instructions.get(self.speaker):
                return
            self.instructions[self.speaker] = instructions
        named = {
            **message,
            "name": message.get("tool_name"),
            "model": run.get("model"),
            "metrics": _agno_usage(run, message),
        }
        super().read(named)

    def _read_unfinished(self, run: Record) -> None:
        """Read a run that was not answered: what was asked, what a model thought and used until it
        failed, and what the framework says of it.
        """
        self.time = self.source.time(run, "created_at")
        prompt = label(mapping(run, "input"), "input_content")
        if prompt:
            self.say_text("user", prompt)
        figures = _agno_usage(run, run)
        usage = self.usage({"usage": figures})
        thoughts = thought_block(label(run, "reasoning_content"))
        if usage or thoughts:
            model = self.source.name(run, "model")
            answer = Content([*thoughts])
            self.say_content("assistant", answer, model=model, usage=usage)
        words = label(run, "content")
        if words:
            self.note(label(run, "status") or "run", words)


def _agno_usage(run: Record, message: Record) -> Json:
    """What an answer used; Anthropic's input is without what the cache held."""
    figures = as_mapping(message.get("metrics"))
    if label(run, "model_provider") != "Anthropic" or not figures:
        return figures or None
    input_tokens = 0
    for field in ("input_tokens", "cache_read_tokens", "cache_write_tokens"):
        figure = figures.get(field)
        if isinstance(figure, int):
            input_tokens += figure
    return {**figures, "input_tokens": input_tokens}


AGNO_DATABASE = database_format(
    name="agno_database",
    description="sessions of Agno 1 to 3 (SQLite)",
    carries=("calls", "thinking", "usage", "times", "model", "system"),
    tables=AgnoTables(),
    builder=AgnoBuilder,
    aside=AGNO_ASIDE,
)
