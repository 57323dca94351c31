"""How surprising a local model finds what the recording needed, given each context."""
