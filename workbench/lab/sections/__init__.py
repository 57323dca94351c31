"""What the laboratory adds to a report; `extensions.py` has the list."""
