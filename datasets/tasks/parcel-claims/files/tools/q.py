"""Runs one query on support.db, read-only, and prints a table: python tools/q.py "select ..." """

import sqlite3
import sys

db = sqlite3.connect("file:support.db?mode=ro", uri=True)
cursor = db.execute(sys.argv[1])
rows = [tuple("" if v is None else str(v) for v in row) for row in cursor.fetchall()]
heads = tuple(column[0] for column in cursor.description)
widths = [max(map(len, column)) for column in zip(heads, *rows)]
for row in (heads, tuple("-" * w for w in widths), *rows):
    print(" | ".join(v.ljust(w) for v, w in zip(row, widths)).rstrip())
print(f"({len(rows)} rows)")
