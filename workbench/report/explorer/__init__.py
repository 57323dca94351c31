"""One session under one strategy, to look at closely and to play with."""
