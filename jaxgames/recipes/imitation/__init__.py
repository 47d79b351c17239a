"""Trainings by imitation of data sets: recipes, their training, what is measured."""
