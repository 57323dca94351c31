"""The compaction engine: from messages to a smaller context. It needs no recording and no measure.

- `transcript`: messages, sessions, contexts, and the masking of secrets: what everything else
  speaks of.
- `extraction`: the names that a text has (paths, symbols, errors, numbers).
- `models`: everything that answers a request: litellm, a command, a folder, a local model, rules;
  bills and caches.
- `compaction`: triggers, cuts, stages and the presets made of them; `engine.compact` runs a
  strategy.

The engine uses `base` alone. It installs alone as well: numpy and tiktoken are all it needs.

Start with `compaction/engine.py`, then a preset, such as `compaction/presets/pi.py`. A new trigger
belongs into `compaction/strategy.py`, a new stage into `compaction/stages`.
"""
