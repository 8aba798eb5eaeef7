// Adds parameters that the address lacks, in the step of the browser's history that there is.

export default function ({ data }) {
  const address = new URL(location.href);
  for (const [key, values] of data.values) {
    if (address.searchParams.has(key)) continue;
    for (const value of values) address.searchParams.append(key, value);
  }
  history.replaceState(history.state, "", address);
}
