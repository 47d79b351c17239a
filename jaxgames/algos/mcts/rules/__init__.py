"""Selection rules: which edge a simulation takes."""
