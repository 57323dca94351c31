"""Whether a change of the code changed a figure: replays recordings and compares every value of
every table.

Usage: python tests/gate/gate.py [--part nine|all|bundled] [--store] [--jobs N]

Part `nine` replays nine strategies on the bundled sessions and on 24 recordings of
../shared/corpora, part `all` every built-in preset on eight of them; both in natural and matched
mode, with summaries by the rule-based writer. Part `bundled` is the README's main command: the
bundled sessions with the real summaries that ship with them. Each table of the run is compared with
the stored run beside this file, value by value; exits with 1 where any differs.

`names.toml` says what was renamed, added or removed since the run was stored. `--store` writes the
stored run anew, for a change that means to change a value; the commit says which value and why.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pandas as pd

import workbench as wb

HERE = Path(__file__).parent
CORPORA = HERE.parents[2] / "shared" / "corpora"
NAMES = tomllib.loads((HERE / "names.toml").read_text())

RECORDINGS = (
    "claude-code-viewer/fe5e1c67-53e7-4862-81ae-d0e013e3270b.jsonl",
    "pi.dev/019dbe19-ca83-74b3-b3ca-230160eb3875.jsonl",
    "session-bridge/gemini/session-cdb14b05-cceb-4354-a9d8-8c9182ece8bf.json",
    "openhands/multi_swe_bench-output.jsonl",
    "agentv/rollout-019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl",
    "context-evaluator/8209f1c2-ccba-4dd6-8b9e-8d6d142183e2.jsonl",
    "entireio-cli/2026-01-21-130d7b7e-5801-4345-9bd6-f32fd9b8429b.jsonl",
    "entireio-cli/3ae3ab59-52bc-413d-ad30-02b165c91785.jsonl",
    "oh-my-posh/f776f2bf-23df-4ccd-808c-738ef763c1c6.jsonl",
    "session-share/0ccf1a04-1b4c-43b6-8aa5-79e41db43a68.jsonl",
    "agentv/rollout-019f05f8-7f53-7492-a941-83098e16765c.jsonl",
    "session-bridge/codex/rollout-019d7372-a0bb-72c0-847d-5e4439ef5efd.jsonl",
    "gatomia-vscode/ses_20c67c805ffez5760ap0ETph7x.json",
    "session-bridge/opencode/ses_277daa810ffePOBsdfS6gm8uA2.json",
    "auth-go/019e44d4-6ecf-7c1d-96ab-582effc13411.jsonl",
    "pi-mono/large-session.jsonl",
    "getspecstory/2026-02-20_16-33-05Z-start-with-docs-git.md",
    "getspecstory/2026-06-10_14-24-50Z.md",
    "aider/chat-2024-08-14_06-20-09.md",
    "swe-agent/pydicom-1458.traj",
    "tau-bench/gpt-4o-airline.subset.json",
    "cline/session.messages.json",
    "langfuse/beeai-2025-08-01.json",
    "adk-samples/text_search_floral_dress.session.json",
)
NINE = (
    "truncate", "summarize", "pipeline", "opal", "operator_use", "ddx_agent", "ex_athena", "docker_agent",
    "claude_code",
)  # fmt: skip
ALL = (
    *NINE, "clear_tool_uses", "observation_mask", "pi", "codex_local", "gemini_cli", "opencode", "openhands_rolling",
    "langchain_20", "hermes_lean",
)  # fmt: skip
"""Every preset; the references `none` and `null` are part of every run."""
PARTS = ("nine", "all", "bundled")
WINDOW = 32_000
SHARES = (0.1, 0.3)
UNSTEADY = {"seconds"}
"""Columns that say how long something took."""
QUOTED = ("evidence", "rule", "title")
"""Columns that quote recordings of others: what is stored has a digest of each value."""
TOLERANCE = 1e-9


def run(part: str, jobs: int, out: Path) -> dict[str, pd.DataFrame]:
    """The tables of a fresh run of one part."""
    if part == "bundled":
        wb.compare(jobs=jobs, out=out, simulate=False)
        return _tables(out)
    recordings = [CORPORA / name for name in (RECORDINGS if part == "nine" else RECORDINGS[:5])]
    sessions = wb.bundled() if part == "nine" else wb.bundled()[:3]
    strategies = NINE if part == "nine" else ALL
    wb.compare(
        [*sessions, *recordings],
        strategies=strategies,
        window=WINDOW,
        shares=SHARES,
        model="extractive",
        jobs=jobs,
        simulate=False,
        out=out,
    )
    return _tables(out)


def _tables(out: Path) -> dict[str, pd.DataFrame]:
    return {path.stem: _steady(pd.read_parquet(path)) for path in sorted(out.glob("*.parquet"))}


def _steady(table: pd.DataFrame) -> pd.DataFrame:
    """The table without what differs from run to run, and with file names in the place of paths."""
    table = table.drop(columns=UNSTEADY & set(table.columns))
    for column, added in NAMES.get("added", {}).items():
        if column in table:
            table = table[~table[column].isin(added)].reset_index(drop=True)
    for column in QUOTED:
        if column in table:
            table[column] = table[column].map(_digest, na_action="ignore")
    if "path" in table:
        table["path"] = [
            Path(str(path)).name if isinstance(path, str) else path for path in table["path"]
        ]
    return table


def _digest(text: object) -> str:
    return sha256(str(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def stored(part: str) -> dict[str, pd.DataFrame]:
    """The stored tables under today's names."""
    found, gone = {}, NAMES.get("gone", {})
    for path in sorted((HERE / part).glob("*.parquet")):
        if path.stem in gone.get("tables", []):
            continue
        table = pd.read_parquet(path).drop(columns=gone.get("columns", {}).get(path.stem, []))
        if "metric" in table:
            table = table[~table["metric"].isin(gone.get("metric", []))].reset_index(drop=True)
        for column, names in NAMES.get("values", {}).get(path.stem, {}).items():
            table[column] = table[column].replace(names)
        table = table.rename(columns=NAMES.get("columns", {}).get(path.stem, {}))
        found[NAMES.get("tables", {}).get(path.stem, path.stem)] = table
    return found


def differences(before: dict[str, pd.DataFrame], now: dict[str, pd.DataFrame]) -> Iterator[str]:
    """A sentence for each table or column that is not the same."""
    for name in sorted(
        (before.keys() | now.keys()) - set(NAMES.get("added", {}).get("tables", []))
    ):
        if name not in before or name not in now:
            yield f"{name}: {'new' if name in now else 'gone'}"
            continue
        old, new = before[name], now[name].drop(columns=NAMES.get("new_columns", {}).get(name, []))
        if set(old.columns) != set(new.columns):
            gone, come = (
                sorted(set(old.columns) - set(new.columns)),
                sorted(set(new.columns) - set(old.columns)),
            )
            yield f"{name}: columns gone {gone}, new {come}"
        if len(old) != len(new):
            yield f"{name}: {len(old)} rows before, {len(new)} now"
            continue
        for column in (column for column in old.columns if column in new):
            unlike = _unlike(old[column], new[column])
            if unlike.any():
                at = int(unlike.to_numpy().argmax())
                keys = [
                    key for key in ("session", "strategy", "mode", "metric", "at") if key in new
                ]
                where = {key: new[key].iloc[at] for key in keys}
                yield (
                    f"{name}.{column}: {int(unlike.sum())} of {len(old)} values differ, first in"
                    f" row {at} {where}: {old[column].iloc[at]!r} before,"
                    f" {new[column].iloc[at]!r} now"
                )


def _unlike(old: pd.Series, new: pd.Series) -> pd.Series:
    """Which values differ; missing equals missing, numbers may differ by rounding."""
    if pd.api.types.is_numeric_dtype(old) and pd.api.types.is_numeric_dtype(new):
        a, b = old.astype("float64"), new.astype("float64")
        near = (a - b).abs() <= TOLERANCE * a.abs().clip(lower=1)
    else:
        near = old.astype("object") == new.astype("object")
    return ~(near.fillna(False).astype(bool) | (old.isna() & new.isna()))


def main() -> int:
    """Run, then compare or store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--part", choices=PARTS, action="append", help="default: all that are stored"
    )
    parser.add_argument("--store", action="store_true", help="write the stored run anew")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if not CORPORA.is_dir():
        print("the gate needs the recordings in the folder shared/corpora beside this checkout")
        return 2
    found = 0
    for part in given.part or [part for part in PARTS if (HERE / part).is_dir()]:
        with tempfile.TemporaryDirectory() as folder:
            now = run(part, given.jobs, Path(folder) / "run")
        values = sum(table.size for table in now.values())
        if not (now["sessions"]["status"] == "ok").all():
            print(f"{part}: a session could not be read: {now['sessions']['reason'].max()}")
            return 2
        if given.store:
            (HERE / part).mkdir(exist_ok=True)
            for path in (HERE / part).glob("*.parquet"):
                path.unlink()
            for name, table in now.items():
                table.to_parquet(HERE / part / f"{name}.parquet", compression="zstd", index=False)
            print(f"{part}: stored {values:,} values in {len(now)} tables")
            continue
        unlike = list(differences(stored(part), now))
        print(*unlike, sep="\n", end="\n" if unlike else "")
        print(
            f"{part}: {values:,} values in {len(now)} tables, {len(unlike) or 'no'} difference(s)"
        )
        found += len(unlike)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
