"""A session while its agent writes it: its size, its next compaction, and what the last took."""
