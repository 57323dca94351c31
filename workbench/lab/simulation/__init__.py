"""Replay with consequences: an agent that knows only what its context tells looks up what a
compaction took.
"""
