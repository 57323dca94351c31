"""The engine inside a running agent: `wb.Compactor` says what to send before each request.

- `compactor` and `async_compactor`: what a host calls; `settings`, `hooks` and `events`: what it
  passes, where it steps in, and what it is told.
- `message_reader` and `formats`: a provider's messages to ours and back; `identity` and
  `covered_prefix`: which of them are the same as before, whatever the host did to them.
- `gauge`, `calibration` and `scheduler`: how full the window is, and when a compaction is due.
- `runner`, `memory` and `state`: one compaction, and the history as it is kept and as it is sent.
- `recovery`, `breaker` and `last_resort`: what helps after a refusal, and what always fits.
- `journal`, `recorder` and `saved`: a compactor in a file, so that a killed agent goes on.
- `dropins`: the same inside agent libraries, see docs/drop-ins.md.

It uses the engine alone, and no recording. Start with `compactor.py`, then `runner.py`. A new
message format belongs into `formats`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["events"])
