"""Sessions that agents recorded: read from the files of many agents, and those that ship with the
package.

- `importers`: a module a format in `importers/formats`; `importer.load` recognises a file and reads
  it.
- `datasets`: the bundled sessions, the tasks behind them, the generator, and what can be fetched.

It uses `engine` for messages and models. Start with `importers/importer.py`; a new format is
described in docs/own-format.md.
"""
