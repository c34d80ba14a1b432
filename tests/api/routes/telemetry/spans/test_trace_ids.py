"""Trace ids of every shape."""

from support.service import Service
from support.spans import send, span

IDS = ["ab" * 15 + "00", "00" * 8 + "ab" * 8, "ab" * 8 + "00" * 8]


async def test_an_id_that_starts_or_ends_with_zero_bytes_is_found(service: Service) -> None:
    person = await service.sign_up()
    sent = {trace_id: span(trace_id) for trace_id in IDS}
    await send(person, *sent.values())
    listed = await person.data("GET", "/spans/traces")
    assert sorted(trace["traceId"] for trace in listed) == sorted(IDS)
    for trace_id, its_span in sent.items():
        found = await person.data("GET", f"/spans/traces/{trace_id}")
        assert (found["traceId"], found["spanCount"]) == (trace_id, 1)
        alone = await person.data("GET", f"/spans/traces/{trace_id}/spans/{its_span['spanId']}")
        assert alone["spanId"] == its_span["spanId"]
