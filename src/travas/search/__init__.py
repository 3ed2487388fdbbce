"""Proposals of noise that are not trusted: `trusted` verifies what comes from here before anything is drawn."""
