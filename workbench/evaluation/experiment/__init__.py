"""Sessions × presets × metrics, on disk.

To follow one run, read in this order:

- `spec`: what is asked; `sources`: which sessions it reads.
- `compare`: the run, from its sessions to its tables, and its forecast.
- `job`: units of work for workers (`workers`), and results that are kept under keys (`keys`,
  `store`). `trial` and `simulate` of the laboratory are jobs too.
- `shards`: the units of a run, each a session file under some strategies.
- `work`: one replay: what its result depends on, how it is made, what it would ask.
- `replay_rows`: the rows of one replay; `references` and `costs` beside it.
- `preliminary`: what is known before all replays are done; `figures_so_far` shows it.
- `run_files`: the tables and the manifest of the run.

`combined`, `sweep` and `grid` make one run of several.
"""
