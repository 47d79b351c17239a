"""Connect Four and Connect X known exactly: a solver of single positions, and all positions of small boards."""
