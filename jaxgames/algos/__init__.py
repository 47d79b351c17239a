"""Learning and search over any game: nothing here names a particular one."""
