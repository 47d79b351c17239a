"""What XLA needs and JAX lacks: bit sets, random bits, ragged lists, values computed once, pytrees, free memory."""
