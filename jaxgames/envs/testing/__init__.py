"""How games are proved right: conformance to the contracts, and perft."""
