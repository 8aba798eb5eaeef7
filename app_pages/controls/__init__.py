"""Controls that several pages share; their values stand in the address of the page."""
