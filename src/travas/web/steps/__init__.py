"""The steps of the page, one file each: `draw(page)` draws the step and stores the input in the session."""
