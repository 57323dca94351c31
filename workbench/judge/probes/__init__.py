"""Questions that a model answers from each strategy's context."""
