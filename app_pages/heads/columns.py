"""The columns of the table of heads, one for each measure: title, description, formula and number format."""

from dataclasses import dataclass

from viz.builders.number_format import format_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table of heads. Its texts may hold fields in braces, such as "{units}", in whose place
    `HeadNumbers.filled_in` puts words for the input, such as "tokens".
    """

    title: str
    description: str  # plain text
    formula: str  # Markdown
    unit: str = ""  # below the title
    number_format: str = ".2f"
    is_share: bool = True  # from 0 to 1; else a bar shows the size, and reaches to the largest of the column

    def as_text(self, value: float, *, signed: bool = False) -> str:
        """The number in the column's format, with its sign if `signed`."""
        return format_number(value, f"{'+' * signed}{self.number_format}")


_SHARE = r"$\sum A_{ij} D_{ij} / \sum A_{ij}$"
# By the names of `model.measures.head_statistics`, and of what becomes of the answer without a head, in the order in which they
# stand. What depends on the input and its answer is filled in by `filled_in`.
COLUMNS = {
    "entropy": Column(
        title="entropy",
        unit="0 to 1",
        description="how evenly a query spreads its weight: 0 is all on one key, 1 the same on each",
        formula=r"mean over queries of $H_i / \ln n_i$, $H_i = -\sum_j A_{ij} \ln A_{ij}$, with $n_i$ the number of keys that "
        "query $i$ may attend to",
    ),
    "confidence": Column(
        title="confidence",
        description="the largest weight that a query gives, on average",
        formula=r"mean of $\max_j A_{ij}$ over the queries that are no special tokens (Voita et al. 2019)",
    ),
    "distance": Column(
        title="distance",
        unit="{units}",
        description="how many {units} away the keys are, on average",
        formula=r"mean over queries of $\sum_j A_{ij} \, \mathrm{dist}(i, j)$, in {units}",
        number_format=".1f",
        is_share=False,
    ),
    "previous": Column(
        title="previous",
        description="share of the weight on the token before the query",
        formula=f"{_SHARE} with $D_{{ij}} = 1$ at the key before the query, else 0",
    ),
    "next": Column(
        title="next",
        description="share of the weight on the token after the query",
        formula="the same with the key after the query",
    ),
    "same": Column(
        title="same",
        description="share of the weight on the query itself",
        formula=f"{_SHARE} with $D_{{ij}} = 1$ where query and key are one, else 0",
    ),
    "first": Column(
        title="first",
        description="share of the weight on the first token, which often stands for the whole input",
        formula=f"{_SHARE} with $D_{{ij}} = 1$ at the first token, else 0",
    ),
    "separator": Column(
        title="separator",
        description="share of the weight on the separators, which mark the end",
        formula="the same with all separators",
    ),
    "sink": Column(
        title="sink",
        description="share of the weight on the one key that gets most of it",
        formula=r"$\max_j \frac{1}{n} \sum_i A_{ij}$, the largest weight that one key gets on average. Gu et al. 2024 count a "
        "sink where it is over 0.3, in causal models; here the key need not be the first",
    ),
    "adds": Column(
        title="adds to the answer",
        unit="below 0: against it",
        description="how much the head's own output adds to the answer; how later layers react to it is left out",
        formula=r"its part $z \, W_O$ of {quantity}, which is the sum of such parts of all heads, feed-forwards, tokens, positions and "
        r"biases (Elhage et al. 2021), with the $\sigma$ of each norm held (Kobayashi et al. 2021)",
        number_format="#.2g",
        is_share=False,
    ),
    "importance": Column(
        title="importance",
        unit="nats",
        description="an estimate of how much the head matters: how fast the answer changes when its output is made a little smaller",
        formula=r"$\left| z^{\top} \, \partial L / \partial z \right|$, how fast the loss $L$, {loss}, changes when the output "
        "$z$ of the head is scaled down a little (Michel et al. 2019): a first-order estimate, to be compared with true "
        "ablation",
        number_format="#.2g",
        is_share=False,
    ),
    "zero": Column(
        title="zeroed",
        unit="{change}, {nats}",
        description="how the answer changes when zeros stand in the place of the head's output",
        formula="{answer} with zeros in the place of the output $z$ of the head",
        number_format="#.2g",
        is_share=False,
    ),
    "mean": Column(
        title="mean-ablated",
        unit="{change}, {nats}",
        description="how the answer changes when the mean of the head's output over the data set stands in its place",
        formula="the same with the mean of $z$ over the data set in its place",
        number_format="#.2g",
        is_share=False,
    ),
}
