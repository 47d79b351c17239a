"""Evaluators: what leaves are worth."""
