"""Release projects: one file that describes releases completely, and the releases made from it."""
