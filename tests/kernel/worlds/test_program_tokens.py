"""The tokens that servers report, in the forms of their protocols."""

import json

import pytest

from goldrush.kernel.worlds.program.state import Tokens, tokens_of

DETAILS = {"cached_tokens": 64}, {"reasoning_tokens": 40}
OPENAI = {
    "prompt_tokens": 100, "prompt_tokens_details": DETAILS[0],
    "completion_tokens": 50, "completion_tokens_details": DETAILS[1],
}  # fmt: skip
RESPONSES = {
    "input_tokens": 100, "input_tokens_details": DETAILS[0],
    "output_tokens": 50, "output_tokens_details": DETAILS[1],
}  # fmt: skip
GEMINI = {
    "promptTokenCount": 100, "cachedContentTokenCount": 64, "candidatesTokenCount": 10,
    "thoughtsTokenCount": 40,
}  # fmt: skip
CLAUDE = {"input_tokens": 6, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 64}
ALL = Tokens(100, 50, 64, 40)
PRETTY = json.dumps({"usage": OPENAI}, indent=4).encode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"usage": OPENAI}, ALL), ({"usage": RESPONSES}, ALL), ({"usageMetadata": GEMINI}, ALL),
        ({"usage": {**CLAUDE, "output_tokens": 50}}, Tokens(100, 50, 64)),
        ({"usage": {**OPENAI, **CLAUDE}}, ALL),
        ({"prompt_eval_count": 100, "eval_count": 50}, Tokens(100, 50)),
        ({"usage": {"prompt_tokens": 9}}, Tokens(9)),
        ({"usage": {"prompt_tokens": -9, "completion_tokens": True}}, None),
        ({"message": {"content": "10 tokens"}}, None),
    ],
)  # fmt: skip
def test_tokens_are_what_the_server_reports(body, expected):
    assert expected == tokens_of(body)
    assert expected == tokens_of(None, [f"event: x\ndata: {json.dumps(body)}\n\n".encode()])


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([PRETTY[:70], PRETTY[70:]], ALL),
        ([b'data: {"message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}\n\n',
          b'data: {"usage": {"output_tokens": 50}}\n\n'], Tokens(9, 50)),
        ([b'data: {"response": {"usage": {"input_tokens": 9}}}\n\ndata: [DONE]\n\n'], Tokens(9)),
        ([b'{"a":' * 5_000 + b'"token"'], None),
    ],
)  # fmt: skip
def test_tokens_of_pieces_are_the_last_that_were_reported(pieces, expected):
    assert expected == tokens_of(None, pieces)
