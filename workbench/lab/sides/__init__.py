"""The sides of `workbench validate`: each file holds the measures against something that was made without them."""
