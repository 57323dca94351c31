"""What people look at: the report, the explorer in a notebook, and the local page over many runs.

- `page`: a report, part by part, from the tables of a run; `rendering.render` writes the page.
- `explorer`: a session and its contexts, in a notebook.
- `view`: a local server over a folder of runs.

It renders `evaluation.findings.Findings`, and computes no figure of its own. Sections of the
laboratory come from `lab/sections`. Start with `page/report.py`; a new figure belongs into
`evaluation/findings/figures.py`.
"""
