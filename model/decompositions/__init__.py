"""An answer, or an attention score, as a sum over the parts of the residual stream.

The residual stream is a sum (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"): x = Σ_p x^p over token,
token type and position, every head's z_h W_O^h (its b_V is inside z_h), every feed-forward's output, and biases: b_O, and what norms
and linear maps add. A norm whose divisor is held constant is linear (Kobayashi et al. 2021, "Incorporating Residual and Normalization
Layers into Analysis of Masked Language Models"): of each part LayerNorm makes γ ⊙ (x^p − mean(x^p)) / σ(x), RMSNorm γ ⊙ x^p / rms(x).
So a number that is a linear function of a normed state, such as a logit, is the sum of this function of each part.

It is computed as the sum over the parts of each part times the number's gradient with respect to it; what is held constant has no
gradient. States are added up from the recorded outputs of sublayers, and no sublayer is run twice.

The value of a part is its direct contribution to the number, not the change of the number without it: then the divisors of norms would
change, and later sublayers would read another state.
"""
