"""A session while its agent writes it: how large it is, when it will be compacted, and what a
compaction took.
"""
