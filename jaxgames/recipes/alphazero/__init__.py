"""AlphaZero trainings of the four games."""
