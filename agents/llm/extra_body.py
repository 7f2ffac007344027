"""`extra_body`: further fields of a model's requests, as its server names them.

In a roster they are one canonical JSON object: names in order, no spaces, each once. They stand in
the journal, so they never hold a key; and they leave alone what goldrush sends itself, and what
changes how often or with what a question is answered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from goldrush.kernel.errors import format_value

SIZE_MAX: Final = 4_096  # bytes
DEPTH_MAX: Final = 8

# Fields that goldrush sends, or that change what is asked, how often, or the form of the answer: of
# OpenAI's chat completions and what vLLM, SGLang, llama.cpp, Ollama, OpenRouter and others add.
_TAKEN: Final = frozenset(
    (
        # Sent by goldrush.
        "format", "json_schema", "messages", "model", "reasoning_effort", "response_format",
        "response_schema", "seed", "stream", "stream_options", "temperature", "top_p",
        # Other or more questions: texts, tokens, documents, templates, earlier answers.
        "add_bos_token", "add_generation_prompt", "add_special_tokens", "attachments", "audio",
        "chat_history", "chat_template", "contents", "context", "context_length_exceeded_behavior",
        "continue_final_message",
        "conversation", "conversation_id", "conversation_params", "data_sources", "developer",
        "documents", "echo", "file_ids", "files", "history", "image_data", "images", "input",
        "input_embeds", "input_extra", "input_ids", "input_prefix", "inputs", "instructions",
        "message", "modalities", "multi_modal_data", "n_ctx", "n_keep", "num_ctx", "num_keep",
        "preamble", "prediction", "prefill", "preset", "previous_response_id", "prompt",
        "prompt_embeds", "prompt_mode", "prompt_token_ids", "prompt_truncate_len", "query", "raw",
        "safe_prompt",
        "session_params", "suffix", "system", "system_instruction", "system_prompt", "template",
        "transforms", "truncate", "truncate_prompt_tokens", "truncation", "video_data",
        # Tools, and what is searched for.
        "builtin_tools", "enable_search", "function_call", "functions", "mcp_servers",
        "parallel_tool_calls", "plugins", "search_options", "search_parameters", "tool_choice",
        "tool_config", "tool_resources", "tools", "web_search", "web_search_options",
        # Several answers, later ones, or those of other models.
        "background", "best_of", "best_of_n", "candidate_count", "deferred", "engine", "fallbacks",
        "models", "n", "route", "use_beam_search",
        # The form of answers, and where they end.
        "allowed_token_ids", "bad_words", "bad_words_ids", "ban_eos_token", "banned_strings",
        "banned_tokens", "custom_logit_processor", "ebnf", "eos_token_id", "extra_body", "grammar",
        "ignore_eos", "logits_processors", "output_config", "output_schema", "regex",
        "response_mime_type", "structural_tag",
        "structured_outputs", "suppress_tokens", "t_max_predict_ms", "text", "time_limit",
    )
)  # fmt: skip
# Tables in which servers take the same fields once more.
_SAME: Final = (
    "config", "generation_config", "inference_config", "options", "parameters", "params",
    "reasoning", "sampling_params", "thinking",
)  # fmt: skip
# Seeds, limits of tokens, numbers of answers, where they end, and their forms.
_TAKEN_LIKE: Final = re.compile(
    r"(?:.*_)?seeds?(?:_.*)?|randomseed|guided_.*"
    r"|(?:max|min|num|n)_(?:.*_)?(?:tokens?|length|len|predict|outputs?)(?:_.*)?"
    r"|(?:n|num)_(?:.*_)?(?:answers|beams|choices|cmpl|completions?|generations|responses|results"
    r"|samples?|sequences)"
    r"|(?:custom_)?stop(?:s|ping)?(?:_(?:regex|sequences?|strings?|strs?|words?))?"
)
# Names like those of secrets that are none.
_HARMLESS: Final = frozenset(
    (
        "prompt_cache_key",  # names requests that share a cache
        # How many tokens of reasoning.
        "budget_tokens", "reasoning_budget_tokens", "thinking_token_budget",
        # The tokens with which a model's template ends an answer, and how tokens become text.
        "skip_special_tokens", "spaces_between_special_tokens", "stop_token_ids",
        # Figures besides the text of an answer.
        "logprob_token_ids", "return_token_ids", "return_tokens", "return_tokens_as_token_ids",
        "timings_per_token", "token_ids_logprob",
    )
)  # fmt: skip
_SECRET: Final = re.compile(
    r"(?:^|[^a-z])(?:[a-z]*keys?|[a-z]*tokens?|o?auth[nz]?|pass|pat|pwd|jwts?)(?:$|[^a-z])"
    "|apikey|accesskey|secret|passw|passcode|passphrase|authent|authoriz|credential|bearer|cookie"
)
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def canonical(fields: Mapping[str, object]) -> str:
    """The canonical text of fields. Raises TypeError, ValueError for what JSON cannot hold."""
    return json.dumps(
        fields, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )


def fields_of(text: str | None) -> dict[str, object]:
    """The fields of a canonical text; None has none."""
    fields: dict[str, object] = {} if text is None else json.loads(text)
    return fields


def is_canonical(value: object) -> bool:
    """Whether a value is the canonical text of fields that a request can have."""
    try:
        if type(value) is not str or len(value.encode()) > SIZE_MAX:
            return False
        fields = json.loads(value)
        return isinstance(fields, dict) and canonical(fields) == value and fault_of(fields) is None
    except (ValueError, RecursionError):
        return False


def fault_of(fields: Mapping[str, object]) -> str | None:
    """Why no request can have these fields; None: it can."""
    if not fields:
        return "it is empty"
    for taken in _taken(fields):
        return f"{format_value(taken)} is sent by goldrush, or changes what is asked or answered"
    for depth, inner, value in _parts(fields):
        if depth > DEPTH_MAX:
            return f"it is nested more than {DEPTH_MAX} deep"
        if inner is not None and _SECRET.search(plain := _plain(inner)) and plain not in _HARMLESS:
            return f"{format_value(inner)} is the name of a secret, and a journal would keep it"
        if type(value) is str and re.search("[\ud800-\udfff]", value):
            return "it has a lone surrogate"
    return None


def _taken(fields: Mapping[str, object]) -> Iterator[str]:
    for name, value in fields.items():
        plain = _plain(name)
        if plain in _TAKEN or _TAKEN_LIKE.fullmatch(plain):
            yield name
        if isinstance(value, dict) and plain in _SAME:
            yield from _taken(value)


def _plain(name: str) -> str:
    """A name in small letters, with its words apart: `maxTokens` is `max_tokens`."""
    return _WORD.sub("_", name).lower().replace("-", "_")


def holds_any(text: str | None, secrets: Collection[str]) -> bool:
    """Whether one of these secrets stands in the fields, as a name or in a value."""
    texts = [
        part
        for _, name, value in _parts(fields_of(text))
        for part in (name, str(value) if not isinstance(value, (dict, list)) else None)
        if part is not None
    ]
    return any(secret in part for secret in secrets for part in texts)


def _parts(value: Any, depth: int = 1) -> Iterator[tuple[int, str | None, Any]]:
    """(depth, name, value) of all values inside one; name is None in a list."""
    for name, each in value.items() if isinstance(value, dict) else zip(repeat(None), value):
        is_inner = isinstance(each, (dict, list))
        yield depth + is_inner, name, each
        if is_inner and depth <= DEPTH_MAX:
            yield from _parts(each, depth + 1)
