"""What papers claim about pre-LN and post-LN, and measurements made here to test the claims."""
