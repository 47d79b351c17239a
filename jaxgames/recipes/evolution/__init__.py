"""Evolution of networks: recipes, their settings and methods, their training."""
