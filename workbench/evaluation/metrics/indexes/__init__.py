"""Looks up words, entities and statements of one session."""
