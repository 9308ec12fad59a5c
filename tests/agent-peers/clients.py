"""A client library of Python, driven line by line, as `clients.mjs` is.

Arguments: the library, the era it is asked to speak, then the command of a server on stdio, or its address with the
token in `TOKEN`. Prints one JSON object a line: first the tools' names and the protocol version where the library tells
it; then, for each line `{"call": TOOL, "arguments": …}` that is read, the text of the result. `{"cancel": true}` takes
back the call that is waiting.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

LIBRARY, ERA, *WHERE = sys.argv[1:]
OVER_HTTP = WHERE[0].startswith("http://")
HEADERS = {"Authorization": f"Bearer {os.environ.get('TOKEN', '')}"}
MODE = "legacy" if ERA == "legacy" else "auto"


def say(**what):
    print(json.dumps(what), flush=True)


@asynccontextmanager
async def mcp():
    from mcp import Client, StdioServerParameters

    if OVER_HTTP:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        # A question may take a person's time.
        http = httpx2.AsyncClient(headers=HEADERS, timeout=120)
        server = streamable_http_client(WHERE[0], http_client=http)
    else:
        server = StdioServerParameters(command=WHERE[0], args=WHERE[1:], env=dict(os.environ))
    async with Client(server, mode=MODE) as client:

        async def call(name, arguments):
            return (await client.call_tool(name, arguments)).content[0].text

        yield (await client.list_tools()).tools, client.protocol_version, call


def fastmcp_client():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    stdio = lambda: StdioTransport(command=WHERE[0], args=WHERE[1:], env=dict(os.environ))
    server = StreamableHttpTransport(WHERE[0], headers=HEADERS) if OVER_HTTP else stdio()
    return Client(server, mode=MODE)


@asynccontextmanager
async def fastmcp():
    async with fastmcp_client() as client:

        async def call(name, arguments):
            return (await client.call_tool(name, arguments, raise_on_error=False)).content[0].text

        yield await client.list_tools(), None, call


@asynccontextmanager
async def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    toolset = MCPToolset(fastmcp_client(), max_retries=1)

    async def call(name, arguments):
        """What a model of this library is told."""
        seen = []

        def model(messages, info):
            parts = messages[-1].parts
            for part in parts:
                if isinstance(part, ToolReturnPart):
                    seen.append(part.model_response_str())
                if isinstance(part, RetryPromptPart):
                    seen.append(part.model_response())
            if seen:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart(name, arguments)])

        await Agent(FunctionModel(model), toolsets=[toolset]).run("go")
        return seen[0]

    async with toolset:
        yield await toolset.list_tools(), None, call


@asynccontextmanager
async def openai_agents():
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    if OVER_HTTP:
        params = {"url": WHERE[0], "headers": HEADERS, "timeout": 120}
        server = MCPServerStreamableHttp(params=params, client_session_timeout_seconds=120)
    else:
        params = {"command": WHERE[0], "args": WHERE[1:], "env": dict(os.environ)}
        server = MCPServerStdio(params=params, client_session_timeout_seconds=120)
    async with server:

        async def call(name, arguments):
            return (await server.call_tool(name, arguments)).content[0].text

        yield await server.list_tools(), None, call


async def main():
    loop = asyncio.get_running_loop()
    async with globals()[LIBRARY]() as (tools, version, call):
        say(names=[each.name for each in tools], version=version)

        async def told(tool, arguments):
            name = next(each.name for each in tools if each.name.endswith(f"_{tool}"))
            try:
                say(text=await call(name, arguments))
            except Exception as error:  # What the library makes of a refusal is its own.
                say(error=str(error))

        running = None
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = json.loads(line)
            if "cancel" in order:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                say(canceled=True)
            else:
                running = asyncio.create_task(told(order["call"], order["arguments"]))


asyncio.run(main())
