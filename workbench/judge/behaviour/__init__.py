"""Whether a model obeys and acts alike with each strategy's context."""
