"""python -m poolside COMMAND"""

import sys
from datetime import date

from poolside import archive, config, csv_report, letters, server, text_report, weekly, weeks
from poolside.errors import PoolsideError

UNREADABLE = 5


def main(arguments, out=None):
    """Runs a command and returns its exit code."""
    out = out or sys.stdout
    try:
        return run(arguments, out)
    except PoolsideError as problem:
        print(f"poolside: {problem}", file=out)
        return UNREADABLE


def run(arguments, out):
    if not arguments or arguments[0] not in COMMANDS:
        raise PoolsideError(f"say one of {', '.join(sorted(COMMANDS))}")
    return COMMANDS[arguments[0]](config.load(), arguments[1:], out)


def week_of(arguments):
    if len(arguments) != 1:
        raise PoolsideError("say one week, such as 2026-W22")
    return weeks.week(arguments[0])


def due_of(settings, week):
    return weeks.due(week, settings.due_weekday, settings.due_time)


def report(settings, arguments, out):
    week = week_of(arguments)
    found = weekly.summaries(settings, week)
    out.write(text_report.report(found, due_of(settings, week)))
    return weekly.exit_code(found)


def write(settings, arguments, out):
    week = week_of(arguments)
    found = weekly.summaries(settings, week)
    stem = f"week-{week.year}-{week.number:02}"
    made = [
        archive.store(settings, f"{stem}.txt", text_report.report(found, due_of(settings, week))),
        archive.store(settings, f"{stem}.csv", csv_report.table(found)),
    ]
    for one in found:
        for number, alarm in enumerate(one.alarms, 1):
            made.append(archive.store(settings, letters.name(one, number), letters.letter(one, alarm)))
    for path in made:
        print(path, file=out)
    return weekly.exit_code(found)


def check(settings, arguments, out):
    found = weekly.summaries(settings, week_of(arguments))
    for one in found:
        for finding in one.findings:
            print(one.pool.code, text_report.finding_text(finding), file=out)
    return weekly.exit_code(found)


def due(settings, arguments, out):
    print(f"{due_of(settings, week_of(arguments)):%A %Y-%m-%d %H:%M}", file=out)
    return 0


def serve(settings, arguments, out):
    with server.server(settings) as running:
        print(f"listening on http://{settings.host}:{settings.port}", file=out)
        running.serve_forever()
    return 0


def prune(settings, arguments, out):
    if len(arguments) != 1:
        raise PoolsideError("say today's date, such as 2026-06-08")
    for path in archive.prune(settings, date.fromisoformat(arguments[0])):
        print(f"removed {path}", file=out)
    return 0


def show_config(settings, arguments, out):
    out.write(config.shown(settings))
    return 0


COMMANDS = {
    "report": report,
    "write": write,
    "check": check,
    "due": due,
    "serve": serve,
    "prune": prune,
    "config": show_config,
}
