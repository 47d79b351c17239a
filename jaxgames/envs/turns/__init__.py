"""Whole turns of batches of positions: all of them, the best few, the best of few legal actions."""
