"""What XLA needs and JAX has not: bit sets, random bits, ragged lists, values computed once, pytrees, free memory."""
