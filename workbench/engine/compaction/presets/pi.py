"""pi: a summary when less than 16,384 tokens are free, about 20,000 newest tokens kept, a split
turn summarised apart.

Restates the compaction of pi (badlogic/pi-mono, read at 2026-03-15 and at 2e5a972a), in
`packages/coding-agent/src/core/` the files `compaction/compaction.ts`, `compaction/utils.ts` and
`agent-session.ts`. Besides the general differences (`presets`):

- An earlier summary is carried on wherever it stands before the cut, and what the last compaction
  kept is looked at again, as in newer releases. Older ones begin behind that compaction, and what
  it kept is lost at the next.
- Where only the start of a turn goes behind an earlier summary, that summary is updated with it.
  The original asks for the start alone, and the earlier summary is lost.
- A turn does not begin at a message that a client made up in the user's name; there it does.
- Where the newest messages that reach 20,000 tokens begin with results of a call before them and
  nothing else follows, all goes; the original then keeps everything and is due again.
- The two requests of a split turn run concurrently where the model allows it, else one after the
  other, as in newer releases.
- Transcripts are labelled by our own wording. Results are cut at 2,000 characters, and thoughts and
  whole arguments are shown, as there.
- File lists are sent below the summary and not written into its text, changed files first.
- A picture in a user's message counts like one in a result, as in newer releases (read at 2e5a972a
  of earendil-works/pi); before, it counted nothing. They think in the summary as hard as the session
  does; before, they thought hard always. The prompt, the limit and the cut are as before.
- After an overflow the same is done. The original then goes on by itself; a replay has nothing to
  go on with.
"""

from workbench.engine.compaction.plan import Budget
from workbench.engine.compaction.presets.token_counters import unsaid_chars
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.size_limits import SUMMARY_SHARE, SizeLimits
from workbench.engine.compaction.span_selection import Movable, Span
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import AtLimit, Preset, Strategy
from workbench.engine.transcript.context import Context
from workbench.engine.transcript.message import Message

RESERVE = 16_384
LIMITS = SizeLimits(
    most=int(0.8 * RESERVE),
    most_turn=int(0.5 * RESERVE),
    share=SUMMARY_SHARE,
)
IMAGE_CHARS = 4_800


def pi_tokens(message: Message) -> int:
    """A quarter of the characters of words, thoughts and calls, rounded up; a picture is 4,800."""
    chars = unsaid_chars(message)
    for block in message.blocks:
        if block.type == "text":
            chars += len(block.text)
        elif block.type == "image" and message.role != "assistant":
            chars += IMAGE_CHARS
    return -(-chars // 4)


def pi_cut(
    context: Context,
    budget: Budget,
    keep: int = 20_000,
) -> Span | None:
    """Back from the newest message until enough is kept, then forward past results."""
    movable = Movable.of(context, budget)
    place = movable.reaching(movable.kept(keep))
    return movable.cut(place, split=True)


PROMPT = PromptTemplate(
    result_chars=2_000,
    argument_chars="whole",
    thoughts=True,
    start="start",
)

SUMMARY = Summarize(
    cut=pi_cut,
    prompt=PROMPT,
    limits=LIMITS,
    name="pi_compact",
)

PI = Preset(
    "pi",
    Strategy("pi", (SUMMARY,)),
    AtLimit(reserve=RESERVE, above=True),
    count=pi_tokens,
    moments=("before_request", "after_turn"),
    source=(
        "badlogic/pi-mono 2026-03-15"
        " packages/coding-agent/src/core/compaction/{compaction,utils}.ts"
    ),
)
