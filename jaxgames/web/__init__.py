"""Play in the browser: one page, one server, any player on either seat.

`rooms` are games in progress, `engine` runs the players, `messages` defines what the page may send, `guard` decides
which requests are answered. The page itself is in `static`.
"""
