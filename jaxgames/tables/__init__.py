"""Exact knowledge: tables of all positions of a kind, solved by the games' own rules."""
