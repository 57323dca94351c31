"""The evaluation: replays recorded sessions under strategies, and measures what each keeps, saves
and costs.

- `replays`: a session under a strategy, request by request, on its own trigger or at a given size.
- `metrics`: what is measured in a replay: the exams of names and of the work, code, cost, recall.
- `experiment`: the main job. `compare` plans replays, runs them on workers, keeps them, and joins
  the tables.
- `analysis`: from tables of single replays to means, intervals and differences.
- `findings`: what a run says, computed once in one type that every face renders.
- `watching`: the same measures for a session that still goes on.

It uses `recordings`, `live` and `engine`. Start with `experiment/compare.py`; a new metric is
described in docs/own-metric.md.
"""
