"""What the charts share: figures as frame and form, palettes, themes, numbers as text."""
