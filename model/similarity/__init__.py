"""The cosine similarity of two inputs divided among their tokens, a text's logit among patches, and similarity between patches."""
