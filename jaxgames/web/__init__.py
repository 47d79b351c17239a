"""Play in the browser: one page, one server, any player on either seat.

`rooms` are games under way with people, `engine` runs the players, `messages` is what the page may say, `guard` whom
the server answers. The page itself is in `static`.
"""
