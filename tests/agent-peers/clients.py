"""A client library of Python calls one tool through a server on stdio.

Arguments: the library, the tool's last part, its arguments as JSON, then the command of the server. Prints one JSON
object: the tools' names, the protocol version where the library tells it, and the text of the result.
"""

import asyncio
import json
import sys


def found(tools, tool):
    return next(each.name for each in tools if each.name.endswith(f"_{tool}"))


async def mcp(command, tool, arguments):
    from mcp import Client, StdioServerParameters

    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool(found(tools, tool), arguments)
        return tools, client.protocol_version, result.content[0].text


async def fastmcp(command, tool, arguments):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(StdioTransport(command=command[0], args=command[1:])) as client:
        tools = await client.list_tools()
        result = await client.call_tool(found(tools, tool), arguments, raise_on_error=False)
        return tools, None, result.content[0].text


async def pydantic_ai(command, tool, arguments):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    seen = []

    def model(messages, info):
        returned = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if returned:
            seen.append((info.function_tools, returned[0].model_response_str()))
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(found(info.function_tools, tool), arguments)])

    toolset = MCPToolset(StdioTransport(command=command[0], args=command[1:]))
    await Agent(FunctionModel(model), toolsets=[toolset]).run("go")
    return seen[0][0], None, seen[0][1]


async def openai_agents(command, tool, arguments):
    from agents.mcp import MCPServerStdio

    params = {"command": command[0], "args": command[1:]}
    async with MCPServerStdio(params=params, client_session_timeout_seconds=120) as server:
        tools = await server.list_tools()
        result = await server.call_tool(found(tools, tool), arguments)
        return tools, None, result.content[0].text


async def main(library, tool, arguments, command):
    tools, version, text = await globals()[library](command, tool, json.loads(arguments))
    print(json.dumps({"names": [each.name for each in tools], "version": version, "text": text}))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
