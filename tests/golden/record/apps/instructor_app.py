"""OpenInference's instrumentations of Instructor and of the OpenAI client below it."""

from __future__ import annotations

from contextlib import suppress

import _tracing
import instructor
from _weather import QUESTION, SYSTEM
from openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.instructor import InstructorInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from pydantic import BaseModel


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


def main() -> None:
    provider = _tracing.start()
    InstructorInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    client = instructor.from_openai(OpenAI(max_retries=0))
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        client.chat.completions.create(
            model="gpt-4o-mini",
            response_model=Weather,
            messages=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": QUESTION},
            ],
        )
        with suppress(Exception):
            client.chat.completions.create(
                model="gpt-4o-mini",
                response_model=Weather,
                max_retries=0,
                messages=[{"role": "user", "content": _tracing.FAILING}],
            )
    provider.shutdown()


if __name__ == "__main__":
    main()
