"""Where SDKs report when the first token of a streamed model call arrived."""

# Attributes with the time since the start of the call, in the order in which they are read.
SECONDS = (
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.client.operation.time_to_first_chunk",
    "gen_ai.server.time_to_first_token",
)
MILLISECONDS = ("ai.response.msToFirstChunk", "ttft_ms")
# Attributes with the moment as an ISO 8601 time.
MOMENTS = ("langfuse.observation.completion_start_time", "mastra.completion_start_time")
# An event at that moment.
EVENT = "First Token Stream Event"
