"""Anthropic's client: a trader that uses a tool, and one that streams."""

from anthropic import Anthropic

ROUNDS = 5
client = Anthropic(api_key="sk-ant-secret-of-claude", max_retries=9)
PRICE = {
    "name": "price",
    "description": "The price of a good.",
    "input_schema": {"type": "object", "properties": {"good": {"type": "integer"}}},
}
for number in range(ROUNDS):
    chat = [{"role": "user", "content": f"Day {number}: what do you trade?"}]
    common = {"model": "claude", "max_tokens": 99, "messages": chat}
    answer = client.messages.create(tools=[PRICE], **common)
    while answer.stop_reason == "tool_use":
        called = [block.model_dump() for block in answer.content]
        chat.append({"role": "assistant", "content": called})
        results = [
            {"type": "tool_result", "tool_use_id": one["id"], "content": f"{one['input']} is gold"}
            for one in called
        ]
        chat.append({"role": "user", "content": results})
        answer = client.messages.create(tools=[PRICE], **common)
    chat.append({"role": "assistant", "content": answer.content[0].text})
    chat.append({"role": "user", "content": "Tell the others."})
    with client.messages.stream(**common) as stream:
        told = "".join(stream.text_stream)
    print(number, chat[2]["content"][0]["content"], answer.content[0].text, told)
