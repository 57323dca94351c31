"""Foreign recordings to sessions; their oddities end here."""
