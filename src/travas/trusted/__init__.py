"""Everything that decides privacy: read this folder and the proofs (docs/trust.md)."""
