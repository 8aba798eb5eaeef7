"""What papers claim about pre-LN and post-LN, and measurements here that test the claims."""
