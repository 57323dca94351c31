"""Asks the label printer for its width: it prints a ruler, answers once after it was switched on, then never again."""

from pathlib import Path

config = Path(__file__).parent / "printer.cfg"
text = config.read_text()
if "asked" in text:
    print("the printer does not answer; switch it off and on (the caretaker has the key)")
else:
    print("ruler printed: 33 characters fit, the 34th is cut off")
    config.write_text(text + "asked = yes\n")
