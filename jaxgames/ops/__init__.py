"""What XLA needs and JAX has not: bit sets, random bits, ragged lists, values computed once, batches of pytrees."""
