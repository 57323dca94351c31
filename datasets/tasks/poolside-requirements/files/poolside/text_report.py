"""The report for people."""

from poolside import limits, weeks
from poolside.numbers import rounded


def report(found, due):
    """The text report of a week: a table, then alarms, findings and missing readings of each pool."""
    days = weeks.days(found[0].week)
    rows = [
        f"Water report {weeks.shown(found[0].week)} ({days[0]:%d.%m.%Y} to {days[-1]:%d.%m.%Y})",
        f"At the health office by {due:%A %d.%m.%Y %H:%M}",
        "",
        f"{'pool':<26}{'read':>5}{'miss':>5}{'free':>7}{'min':>6}{'max':>6}{'comb':>6}{'pH':>11}{'temp':>7}{'visit':>7}{'find':>6}{'alarm':>6}",
    ]
    rows += [table_row(one) for one in found]
    for one in found:
        if one.alarms or one.findings or one.missing:
            rows += ["", f"{one.pool.name} ({one.pool.code}), manager {one.pool.manager}"]
            rows += [f"  ALARM   {alarm_text(alarm)}" for alarm in one.alarms]
            rows += [f"  finding {finding_text(finding)}" for finding in one.findings]
            rows += [f"  missing {time:%a %d.%m. %H:%M}" for time in one.missing]
    return "\n".join(rows) + "\n"


def table_row(one):
    name = f"{one.pool.code} {one.pool.name}"
    if not one.readings:
        return f"{name:<26}{0:>5}{len(one.missing):>5}   closed"
    ph = f"{one.lows['ph']}-{one.highs['ph']}"
    return (
        f"{name:<26}{len(one.readings):>5}{len(one.missing):>5}{rounded(one.means['free'], 2):>7}"
        f"{one.lows['free']:>6}{one.highs['free']:>6}{one.highs['combined']:>6}{ph:>11}"
        f"{rounded(one.means['temp'], 2):>7}{one.visitors:>7}{len(one.findings):>6}{len(one.alarms):>6}"
    )


def finding_text(finding):
    of = finding.limit
    name = limits.NAMES[finding.quantity]
    return f"{finding.time:%a %d.%m. %H:%M}  {name} {finding.value} {of.unit}".rstrip() + f" (allowed {of.low} to {of.high})"


def alarm_text(alarm):
    first, last = alarm.findings[0].time, alarm.findings[-1].time
    return f"{limits.NAMES[alarm.quantity]}, {len(alarm.findings)} readings from {first:%a %d.%m. %H:%M} to {last:%a %d.%m. %H:%M}"
