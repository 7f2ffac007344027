// Node's own fetch: five equal voters at once, then a stream.
// With NAMED=1 it names its callers itself, as programs that are not Python can.
const [rounds, voters] = [5, 5];
const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;

async function ask(content, more = {}, caller = null) {
  for (;;) {
    const headers = { "content-type": "application/json", authorization: "Bearer sk-secret-of-node" };
    if (process.env.NAMED && caller) headers["x-goldrush-caller"] = caller;
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...more });
    const answer = await fetch(url, { method: "POST", headers, body });
    const text = await answer.text().catch(() => null);
    if (answer.ok && text !== null) return text;
    if (answer.headers.get("x-should-retry") === "false") throw new Error(text);
  }
}

for (let round = 0; round < rounds; round++) {
  const asked = Array.from({ length: voters }, (_, k) => ask(`Round ${round}: vote.`, {}, `voter.${k}`));
  const votes = (await Promise.all(asked)).map((text) => JSON.parse(text).choices[0].message.content);
  const stream = await ask(`They voted ${votes.join(", ")}.`, { stream: true }, "teller");
  const lines = stream.split("\n").filter((line) => line.startsWith("data: {"));
  const told = lines.map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "").join("");
  console.log(round, votes, told);
}
