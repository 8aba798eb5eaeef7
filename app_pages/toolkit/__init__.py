"""What Streamlit lacks: gestures in the browser, callbacks that keep no records, work that can be stopped, escaped Markdown."""
