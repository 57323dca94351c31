"""Lines of all papers that hold every given word, with the paper's name: python tools/find.py clause 14"""

import sys
from pathlib import Path

words = [word.lower() for word in sys.argv[1:]]
for file in sorted(Path("papers").glob("*.txt")):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if all(word in line.lower() for word in words):
            print(f"{file.name}:{number}: {line}")
