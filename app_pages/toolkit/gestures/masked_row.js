// The softmax of the scores over the allowed keys, which is the row of all keys without the others, divided by what remains;
// zeros if no key is allowed.
export function maskedRow(scores, allowed) {
  const top = Math.max(...scores.filter((_, key) => allowed[key]));
  const parts = scores.map((score, key) => (allowed[key] ? Math.exp(score - top) : 0));
  const sum = parts.reduce((one, other) => one + other, 0);
  return parts.map((part) => (sum > 0 ? part / sum : 0));
}

