"""Networks of a population as players: policies, games, fitness."""
