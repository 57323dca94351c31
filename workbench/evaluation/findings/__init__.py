"""What a run says, computed once: `Findings`.

- `run_tables`, `sized_tables`, `mean_tables`, `tables`: the tables of a run with plain columns, and
  what is read off them: values, who reaches which size, means, who is compared.
- `changes`: what changed from one run to another.
- `summaries`, `comparison`, `costs`, `readers`, `trust`: small tables and sentences of one topic
  each.
- `preliminary` and its two neighbours: the figures of a run that goes on, with the intervals that
  are to hold the final ones.
- `figures`: all numbers of a run, each once.
- `decision` with `standing`, `verdict`: what follows from them, in words.
- `findings`: all of it in one frozen type, which the faces render.

It uses `analysis` and `experiment`. Start with `findings.py`.
"""

from workbench.evaluation.findings.findings import Findings as Findings
