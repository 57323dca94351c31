"""The laboratory: whether the measures can be believed, what agents do with a context, and what
fits your sessions.

- `validation`, `sides`, `agreement`: the measures beside real readers, other words, gamers, planted
  errors, success.
- `judge`: models as readers of contexts, the exams of the work, and the fit of the reader.
- `trials`: agents at work on tasks that run. `simulation`: recorded actions under another strategy.
- `advice`: the strategy and settings that fit. `learning`: weights of `learned` from your
  recordings.

It uses all other floors but the commands; none of them needs it. Without this folder `compare`, the
report, the live engine and the view work, and say what is missing. Start with
`judge/work_exam/judge_work.py`.
"""
