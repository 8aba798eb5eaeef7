"""What Streamlit lacks: gestures in the browser, callbacks that hold no records in memory, work that can be stopped, escaped
Markdown.
"""
