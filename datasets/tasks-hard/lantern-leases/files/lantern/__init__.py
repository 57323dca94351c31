"""Jobs of a lightship, kept in one file."""
