"""Sessions × presets × metrics, on disk.

To follow one comparison from its specification to its verdict, read in this order:

- `spec`: what is asked (`checked_spec`, `spec_fields`: how it is read). `compare`: the run, from
  its sources to its tables.
- `sources`: what is read. `units`: the pieces that workers do. `prepared`: a session made ready.
- `replay_results`: what came of the replays of a session. `job`: a result is kept under a key, and
  not made again. `replay_work`: what a replay depends on, and how its rows are made.
- `replay_rows`: a session's replays, and the rows of each; `references` and `costs` beside it.
- `run_files`, `merging`: the tables and the manifest of the run, in its `run_folder`; `results`
  reads them.
- In `findings`: `findings`, `tables`, `figures`, `decision`, `verdict`.

One word is used for one thing on the whole way:

- `settings`: as the user gives them; `spec`: the same, checked.
- `what`: files, folders, patterns or sessions; `sources`: each file, or session in memory.
- `presets`: the strategies, with their triggers; `baseline`: the one that is cut to the sizes of
  the others; `model`: writes summaries; `window`: tokens of context.
- `run`: a comparison, planned or finished. `job`: what each worker must know of it. `crew`: the
  workers, with the bar that shows how far they are. `unit`: one source under some presets.
- `recording`: what a source holds; `sessions`: of it; `prepared`: a session ready for replays.
- `work`: one replay to make, or to find; `outcome`: its tables, or an error; `results`: what came of
  replays, of units, and of the run.
- `replays`: a session under a preset, on its own trigger and cut to sizes; `tables`: rows by table.
- `merging`: puts the tables of all replays together; `absent`: keys of replays that are not there.
- `figures`: each number of a finished run; `findings`: all that the run says.

`preliminary` is what is known before all replays are done; `figures_so_far` shows it. `forecast` is
what a run would take. `trial` and `simulate` of the laboratory are jobs too. `combined`, `sweep`
and `grid` make one run of several.
"""
