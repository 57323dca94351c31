"""Things that have a state: files, replaced values, announced work."""
