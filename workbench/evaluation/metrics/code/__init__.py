"""Code needs: lines that an agent edits or quotes after a boundary, and how much of them a
context has.
"""
