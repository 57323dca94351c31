"""What the laboratory adds to a report; `base.laboratory` has the list."""
