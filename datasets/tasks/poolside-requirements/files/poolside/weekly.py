"""What a week was like in one pool."""

from collections import namedtuple

from poolside import checks, numbers, readings
from poolside.pools import POOLS

Summary = namedtuple("Summary", "week pool readings missing means lows highs visitors findings alarms")


def summary(week, code, found, run_length):
    """The figures of one pool; means and extremes are None where nothing was measured."""
    values = {name: [getattr(reading, name) for reading in found] for name in readings.QUANTITIES}
    return Summary(
        week=week,
        pool=POOLS[code],
        readings=found,
        missing=checks.missing(week, found),
        means={name: numbers.mean(v) if v else None for name, v in values.items()},
        lows={name: min(v, default=None) for name, v in values.items()},
        highs={name: max(v, default=None) for name, v in values.items()},
        visitors=sum(reading.visitors for reading in found),
        findings=checks.findings(found),
        alarms=checks.alarms(found, run_length) if found else [],
    )


def summaries(config, week):
    """All six, by code."""
    return [
        summary(week, code, readings.read_week(config.data, code, week), config.run_length) for code in sorted(POOLS)
    ]


def exit_code(found):
    """3 an alarm, 4 readings are missing, 0 neither. The town's cron depends on them."""
    if any(one.alarms for one in found):
        return 3
    return 4 if any(one.missing for one in found) else 0
