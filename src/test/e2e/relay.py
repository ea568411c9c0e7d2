"""Relays connections to the Kubernetes API, and stands still when it is told to.

It stands for the network between the operator and the API: with SIGUSR1 nothing
comes through any more, and no connection ends; with SIGUSR2 all goes on.
"""

import asyncio
import os
import signal

PORT = 443


def stand_still(_signal: int, _frame: object) -> None:
    """Hold up the only thread until SIGUSR2."""
    signal.sigwait({signal.SIGUSR2})


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction of a connection to its end."""
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy both directions of a connection."""
    api_reader, api_writer = await asyncio.open_connection(
        os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    )
    await asyncio.gather(copy(reader, api_writer), copy(api_reader, writer))


async def main() -> None:
    """Serve until the process is killed."""
    server = await asyncio.start_server(relay, port=PORT)
    await server.serve_forever()


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
signal.signal(signal.SIGUSR1, stand_still)
# As the first process of its container it would not end otherwise.
signal.signal(signal.SIGTERM, signal.default_int_handler)
asyncio.run(main())
