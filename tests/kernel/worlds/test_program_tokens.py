"""The tokens that servers report, in the forms of their protocols."""

import json

import pytest

from goldrush.kernel.worlds.program.state import Tokens, tokens_of

OPENAI = {
    "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 64},
    "completion_tokens_details": {"reasoning_tokens": 40},
}  # fmt: skip
RESPONSES = {
    "input_tokens": 100, "input_tokens_details": {"cached_tokens": 64},
    "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 40},
}  # fmt: skip
GEMINI = {
    "promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 10,
    "thoughtsTokenCount": 40, "totalTokenCount": 150,
}  # fmt: skip
ANTHROPIC = {"input_tokens": 6, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 64}
ALL = Tokens(100, 50, 64, 40)
PRETTY = json.dumps({"usage": OPENAI}, indent=4).encode()


def events(*values):
    return [f"event: x\ndata: {json.dumps(value)}\n\n".encode() for value in values]


@pytest.mark.parametrize(
    ("body", "chunks", "expected"),
    [
        ({"usage": OPENAI}, (), ALL),
        ({"usage": RESPONSES}, (), ALL),
        ({"usageMetadata": GEMINI}, (), ALL),
        ({"usage": {**ANTHROPIC, "output_tokens": 50}}, (), Tokens(100, 50, 64)),
        ({"usage": {**OPENAI, **ANTHROPIC}}, (), ALL),
        ({"prompt_eval_count": 100, "eval_count": 50}, (), Tokens(100, 50)),
        ({"usage": {"prompt_tokens": 9}}, (), Tokens(9)),
        ({"usage": {"prompt_tokens": -9, "completion_tokens": True}}, (), None),
        ({"message": {"content": "10 tokens"}}, (), None),
        (None, [PRETTY[:70], PRETTY[70:]], ALL),
        (None, events({"choices": []}, {"usage": OPENAI}), ALL),
        (None, events({"response": {"usage": RESPONSES}}), ALL),
        (
            None,
            events(
                {"usageMetadata": {**GEMINI, "thoughtsTokenCount": 1}}, {"usageMetadata": GEMINI}
            ),
            ALL,
        ),
        (
            None,
            events(
                {"message": {"usage": {**ANTHROPIC, "output_tokens": 1}}},
                {"usage": {"output_tokens": 50}},
            ),
            Tokens(100, 50, 64),
        ),
        (None, [b'{"a":' * 5_000 + b'"token"'], None),
    ],
)
def test_tokens_are_what_the_server_reports(body, chunks, expected):
    assert expected == tokens_of(body, chunks)
