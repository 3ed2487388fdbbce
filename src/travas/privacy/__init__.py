"""The trusted base: exact numbers, guarantees, noise tables, their verifier and the samplers. Standard library and numpy only."""
