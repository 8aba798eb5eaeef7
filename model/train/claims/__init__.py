"""Measurements that test the claims of `model.claims`."""
