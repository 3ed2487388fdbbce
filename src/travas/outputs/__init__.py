"""Writing releases: the release file and the guarantee file next to it."""
