"""Interventions on a trained encoder: what a page changes, and what follows."""
