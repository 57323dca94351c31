"""From a replay to numbers: retention, size, cost, state."""
