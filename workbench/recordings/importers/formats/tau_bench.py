"""Results of tau-bench, a list of tasks with their messages, and of tau2-bench, one document whose
simulations are a session each.

Source: sierra-research/tau2-bench, `data_model/simulation.py` and `data_model/message.py`. The
agent's system prompt is the domain's policy in a frame that no file has. A user's calls and what
they returned are those of the model that plays the user.
"""

from collections.abc import Iterator

from workbench.engine.transcript.message import Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import chat_sessions
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import Record, as_mapping, items, label, objects

ASIDE = (
    "info tasks simulations.reward_info simulations.messages.raw_data simulations.user_cost "
    "simulations.review simulations.hallucination_check"
)
"""Fields that the agent's model was not sent."""


def knows_tau_bench(head: Head) -> bool:
    """Whether its results have a task and what was said of it."""
    if head.is_object_with("info", "tasks", "simulations"):
        return True
    return {"task_id", "traj"} <= head.keys


class Tau2Builder(ChatBuilder):
    """Reads the messages of one simulation as the agent had them."""

    about = {"model": "info/agent_info/llm", "title": "info/environment_info/domain_name"}

    def begin(self, document: Record) -> None:
        """Read the agent's model, and the policy in its system prompt."""
        super().begin(document)
        policy = self.source.name(document, "info/environment_info/policy")
        if policy:
            self.say_text("system", policy, id="policy")

    def read(self, record: Record) -> None:
        """Read one message; what the played user does with tools of its own is a note."""
        if label(record, "requestor") == "user":
            words = label(record, "content")
            self.note("user_tool", words)
            return
        if label(record, "role") == "user":
            for call in objects(record, "tool_calls"):
                tool = label(call, "name")
                self.note("user_tool", tool)
            words = label(record, "content")
            if not words:
                return
        shaped = {**record, "tool_call_id": record.get("id"), "id": None}
        super().read(shaped)

    def usage(self, record: Record) -> Usage | None:
        """What the provider reported, which has the cache; else the two sums of it."""
        raw_data = as_mapping(record.get("raw_data"))
        return super().usage(raw_data) or super().usage(record)


def tau_sessions(source: SourceFile) -> Iterator[Session]:
    """A session a task, or a simulation of one."""
    document = source.document()
    if not isinstance(document, dict) or "simulations" not in document:
        yield from chat_sessions(source)
        return
    for number, simulation in enumerate(objects(document, "simulations")):
        with source.at(field=f"simulations[{number}]"):
            builder = Tau2Builder(source)
            builder.begin(document)
            messages = items(simulation, "messages")
            builder.read_all(messages, "messages")
            task = source.identifier(simulation, "task_id")
            trial = source.identifier(simulation, "trial")
            builder.id = f"{source.stem}-task{task}-trial{trial}"
            yield builder.session()


TAU_BENCH = Format(
    name="tau_bench",
    description="results of tau-bench and tau2-bench (JSON)",
    carries=("calls", "usage", "times", "model", "system"),
    knows=knows_tau_bench,
    sessions=tau_sessions,
    aside=ASIDE,
)
