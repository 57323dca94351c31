"""Letters to managers. The words are in docs/wording.md and are not ours to change."""

from poolside import limits, weeks

LETTER = """\
Alarm at {name} ({code}), week {week}

In {count} successive readings from {first} to {last}, {quantity} was outside of the permitted range ({low} to {high} {unit}).
You are required to act on the day on which you receive this letter and to record what was done in the pool's log.

This letter was produced automatically and is valid without a signature.
"""


def letter(one, alarm):
    """The letter for one alarm of a week's summary."""
    of = alarm.findings[0].limit
    return LETTER.format(
        name=one.pool.name,
        code=one.pool.code,
        week=weeks.shown(one.week),
        count=len(alarm.findings),
        first=f"{alarm.findings[0].time:%d.%m.%Y %H:%M}",
        last=f"{alarm.findings[-1].time:%d.%m.%Y %H:%M}",
        quantity=limits.NAMES[alarm.quantity],
        low=of.low,
        high=of.high,
        unit=of.unit,
    )


def name(one, number):
    """The letter's file name."""
    return f"letter-{one.pool.code}-{one.week.year}-{one.week.number:02}-{number}.txt"
