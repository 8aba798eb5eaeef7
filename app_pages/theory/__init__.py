"""Parts of the page Theory: measurements of untrained encoders beside what papers prove."""
