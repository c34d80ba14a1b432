"""OpenInference's instrumentation of DSPy: a module with one prediction, a failed one."""

from __future__ import annotations

from contextlib import suppress

import _tracing
import dspy
from _weather import QUESTION
from openinference.instrumentation import using_attributes
from openinference.instrumentation.dspy import DSPyInstrumentor


class WeatherAgent(dspy.Module):
    """Answers a question."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict("question -> answer")

    def forward(self, question: str) -> dspy.Prediction:
        """Answer."""
        return self.answer(question=question)


def main() -> None:
    provider = _tracing.start()
    DSPyInstrumentor().instrument(tracer_provider=provider)
    dspy.configure(lm=dspy.LM("openai/gpt-4o-mini", cache=False, num_retries=0))
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        WeatherAgent()(question=QUESTION)
        with suppress(Exception):
            WeatherAgent()(question=_tracing.FAILING)
    provider.shutdown()


if __name__ == "__main__":
    main()
