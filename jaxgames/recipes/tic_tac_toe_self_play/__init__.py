"""The network that teaches itself tic-tac-toe, and the ways in which that fails."""
