"""TD(lambda) by self-play: recipes, their training, what is measured."""
