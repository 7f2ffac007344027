"""Role playing of CAMEL 0.2: a trader and a miner give each other tasks."""

from camel.models import ModelFactory
from camel.societies import RolePlaying
from camel.types import ModelPlatformType

model = ModelFactory.create(ModelPlatformType.OPENAI, "m", max_retries=9)
session = RolePlaying(
    "Miner", "Trader", task_prompt="Sell the gold.", with_task_specify=True,
    assistant_agent_kwargs={"model": model}, user_agent_kwargs={"model": model},
    task_specify_agent_kwargs={"model": model},
)  # fmt: skip
message = session.init_chat()
for number in range(5):
    miner, trader = session.step(message)
    print(number, trader.msg.content, miner.msg.content)
    message = miner.msg
