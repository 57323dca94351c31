"""A local page over a folder of runs: the contexts behind each figure."""
