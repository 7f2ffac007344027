"""OpenAI's responses: a question, and a stream that goes on from the answer."""

import os

from openai import OpenAI

ROUNDS = 4
DIE = int(os.environ.get("DIE", "-1"))
client = OpenAI(api_key="sk-secret-of-responses", max_retries=9)
for number in range(ROUNDS):
    if number == DIE:
        os._exit(9)
    answer = client.responses.create(model="m", input=f"Day {number}: where do you dig?")
    stream = client.responses.create(model="m", input=f"Why {answer.output_text}?", stream=True)
    why = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    print(number, answer.output_text, why)
