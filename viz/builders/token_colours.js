// Colours of tokens by their weights; stands before the scripts that colour tokens (`token_colours.py`).
const rgb = (hex) => [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16));

// The colour of a share of the scale, between the colours of its table.
function between(colours, share) {
  const position = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const index = Math.min(Math.floor(position), colours.length - 2);
  const [low, high] = [rgb(colours[index]), rgb(colours[index + 1])];
  return `rgb(${low.map((channel, i) => Math.round(channel + (position - index) * (high[i] - channel))).join(" ")})`;
}

function isDark(element) {
  const [red, green, blue] = (getComputedStyle(element).color.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);
  return red + green + blue > 384; // of the ink
}
