"""Solved positions of Connect Four, a solver, and how well players do on them."""
