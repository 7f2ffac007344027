"""A LangGraph loop: equal voters side by side, then an agent that calls a tool until it is done.

With langgraph 1.2.24 and langchain-openai 1.7.4.
"""

import operator
from typing import Annotated, TypedDict

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

ROUNDS, VOTERS = 4, 4
model = ChatOpenAI(model="m", api_key="sk-secret-of-graph", max_retries=9)


@tool
def harvest(field: int) -> str:
    """Harvest a field."""
    return f"field {field} gave {field % 7} bushels"


class State(TypedDict):
    votes: Annotated[list[tuple[int, str]], operator.add]
    messages: Annotated[list[AnyMessage], operator.add]
    number: int


def vote(state: dict[str, int]) -> dict[str, object]:
    said = model.invoke(f"Round {state['number']}: whom do you vote for?").content
    return {"votes": [(state["voter"], said)]}


def act(state: State) -> dict[str, object]:
    votes = ", ".join(said for _, said in sorted(state["votes"]))
    asked = state["messages"] or [HumanMessage(f"They voted {votes}. Which field do you harvest?")]
    answer = model.bind_tools([harvest]).invoke(asked)
    return {"messages": [*(asked if not state["messages"] else []), answer]}


def work(state: State) -> dict[str, object]:
    calls = state["messages"][-1].tool_calls
    results = [(harvest.invoke(one["args"]), one["id"]) for one in calls]
    return {"messages": [ToolMessage(said, tool_call_id=id) for said, id in results]}


def after_act(state: State) -> str:
    return "work" if state["messages"][-1].tool_calls else END


def voters(state: State) -> list[Send]:
    return [Send("vote", {"number": state["number"], "voter": k}) for k in range(VOTERS)]


graph = StateGraph(State)
for node in (vote, act, work):
    graph.add_node(node.__name__, node)
graph.add_conditional_edges(START, voters, ["vote"])
graph.add_edge("vote", "act")
graph.add_conditional_edges("act", after_act)
graph.add_edge("work", "act")
village = graph.compile()
for number in range(ROUNDS):
    final = village.invoke({"number": number, "votes": [], "messages": []})
    print(number, sorted(final["votes"]), [message.content for message in final["messages"]])
