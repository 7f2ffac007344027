#!/bin/sh
# A chain of questions by curl alone; each holds the answer before it.
said=nothing
for round in 0 1 2 3 4; do
  answer=$(
    curl -sS --fail --retry 20 --retry-delay 1 "$OPENAI_BASE_URL/chat/completions" \
      -H "authorization: Bearer sk-secret-of-curl" -H "content-type: application/json" \
      -d "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"$round after $said\"}]}"
  ) || exit 1
  said=$(printf %s "$answer" | sed 's/.*"content": *"\([^"]*\)".*/\1/')
  echo "$round $said"
done
