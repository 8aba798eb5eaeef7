"""What several pages show: figures with their download menus, predictions, notes about an attention map."""
