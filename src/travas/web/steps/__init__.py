"""The steps of the page, one file each: `draw(page)` draws it and tells the session what was chosen."""
