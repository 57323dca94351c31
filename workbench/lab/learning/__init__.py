"""Learns from recordings which lines of a history their agents needed later."""
