"""What all charts share: data frame and form, heatmaps, palettes, themes, numbers as text."""
