"""What is said about pre-LN and post-LN, and what is measured of it here."""
