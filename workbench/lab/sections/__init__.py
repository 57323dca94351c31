"""What the laboratory adds to a report; `extensions.py` beside this folder has the list."""
