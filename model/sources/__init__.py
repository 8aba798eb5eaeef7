"""Where encoders come from: the project's own, a folder of the user, uploads, installed packages, and the Hugging Face Hub."""
