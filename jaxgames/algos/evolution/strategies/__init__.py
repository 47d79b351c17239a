"""Ways to evolve: each asks for candidates and is told their scores."""
