"""What a model of another maker's agent is given for a call: pydantic-ai passes on the structured part only.

Arguments: the calls as JSON, then the command of a server. Prints one JSON text per call.
"""

import asyncio
import json
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel


async def main(calls, command):
    seen = []

    def model(messages, _info):
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        seen.extend(part.model_response_str() for part in returned)
        if len(seen) == len(calls):
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = calls[len(seen)]
        return ModelResponse(parts=[ToolCallPart(name, arguments)])

    tools = MCPToolset(StdioTransport(command=command[0], args=command[1:]))
    await Agent(FunctionModel(model), toolsets=[tools]).run("go")
    for text in seen:
        print(json.dumps(text))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
