"""Players of backgammon made by hand: pubeval and the simple ones."""
