"""What needs forward passes of its own: heads, tokens or stages changed, and what becomes of the answer."""
