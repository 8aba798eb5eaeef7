"""What an answer, or an attention score, is made of: parts of the residual stream that add up to it.

The residual stream is a sum (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): x = Σ_p x^p over token,
token type and position, every head's z_h W_O^h (its b_V is inside z_h), every feed-forward's output, and biases: b_O, and what norms
and linear maps add. A norm whose divisor is held is linear (Kobayashi et al. 2021, "Incorporating Residual and Normalization Layers
into Analysis of Masked Language Models"): LayerNorm makes γ ⊙ (x^p − mean(x^p)) / σ(x) of each part, RMSNorm γ ⊙ x^p / rms(x). So a
number that is read off a state linearly is the sum of what it reads off each part.

So the number's value is the sum of each part times the number's gradient with respect to it, where what is held has no gradient.
States are added up from the recorded outputs of sublayers, and no sublayer is run twice.

A part says what was written and reached the number directly, not what the number would be without it: then divisors would change, and
later sublayers would read another state.
"""
