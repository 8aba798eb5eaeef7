"""What papers claim about pre-LN and post-LN, and verdicts on the claims from stored measurements."""
