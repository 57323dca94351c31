"""Measures the ship's flash card, once: each run wears it, so the second one refuses."""

from pathlib import Path

mark = Path(__file__).with_suffix(".ran")
if mark.exists():
    print("refused: the card was measured already (wear)")
else:
    print("card LX-3: one write 38 ms, 2 jobs a write 41 ms, 6 jobs a write 44 ms, 7 jobs a write 91 ms")
    mark.write_text("")
