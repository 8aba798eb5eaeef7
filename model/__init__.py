"""The encoder, how it is watched, what is measured on it, and how it is trained."""

import torch

# One forward of one example is too small to share out, and a server runs many of them side by side. The
# number must be set before the first session's thread starts, so here; training chooses its own.
torch.set_num_threads(1)
