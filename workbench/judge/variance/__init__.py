"""Where the noise of a score comes from."""
