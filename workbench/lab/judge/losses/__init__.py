"""A model looks at the losses of a run, and marks what was no need."""
