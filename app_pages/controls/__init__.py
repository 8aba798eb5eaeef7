"""Controls of the pages; their values are kept in the page's address."""
