"""What a run says, computed once: `Findings`.

- `tables`: the tables of a run with plain columns, and what is read off them.
- `summaries`, `comparison`, `costs`, `readers`, `trust`: small tables and sentences of one topic
  each.
- `preliminary`: the figures of a run that goes on, with the intervals that are to hold the final ones.
- `figures`: all numbers of a run, each once.
- `decision`, `verdict`: what follows from them, in words.
- `findings`: all of it in one frozen type, which the faces render.

It uses `analysis` and `experiment`. Start with `findings.py`.
"""

from workbench.evaluation.findings.findings import Findings as Findings
