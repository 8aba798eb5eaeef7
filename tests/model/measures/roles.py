"""The roles of one head, found from that head alone; the app decides those of all heads together."""

from model.measures.head_roles import HeadRole, roles_from_numbers
from model.measures.head_statistics import single_head_record, statistics, statistics_of_even_weights
from model.record import AttentionRecord


def roles_on_input(record: AttentionRecord, layer: int, head: int) -> tuple[HeadRole, ...]:
    single_head = single_head_record(record, layer, head)
    return roles_from_numbers(
        single_head, statistics(single_head), 0, 0, statistics_of_even_weights(single_head)
    )
