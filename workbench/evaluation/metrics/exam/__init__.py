"""The exam: what a context still lets a reader say, asked as questions with look-alike answers."""
