"""From a trial to numbers."""
