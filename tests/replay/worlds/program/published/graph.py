"""LangGraph 1.2 with langchain-openai 1.7: equal farmers side by side, each with a tool."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@tool
def harvest(field: int) -> str:
    """Harvest a field."""
    return f"field {field} gave {field % 7} bushels"


farmer = create_react_agent(ChatOpenAI(model="m", max_retries=9), [harvest])
for number in range(4):
    asked = {"messages": [("user", f"Round {number}: which field do you harvest?")]}
    for final in farmer.batch([asked] * 4):
        print(number, [message.content for message in final["messages"]])
