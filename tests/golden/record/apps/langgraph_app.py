"""OpenInference's LangChain instrumentation around a LangGraph graph of two nodes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import _tracing
import _weather
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def main() -> None:
    provider = _tracing.start()
    LangChainInstrumentor().instrument(tracer_provider=provider)
    model = ChatOpenAI(model="gpt-4o-mini", max_retries=0).bind_tools([get_weather])

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([get_weather]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    app = graph.compile(name="weather_agent")
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        app.invoke({"messages": [{"role": "user", "content": _weather.QUESTION}]})
        with suppress(Exception):
            app.invoke({"messages": [{"role": "user", "content": _tracing.FAILING}]})
    provider.shutdown()


if __name__ == "__main__":
    main()
