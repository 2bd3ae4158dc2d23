#!/usr/bin/env python3
"""Links of one machine to itself that can be cut: tcp_links.py PORT:TARGET...

Forwards each PORT of 127.0.0.1 to the port TARGET. While the process is stopped (SIGSTOP), data in both
directions is lost in the way that a broken network loses it: no end, no refusal.
"""
import asyncio
import sys


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(pair):
    port, target = map(int, pair.split(":"))

    async def link(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    server = await asyncio.start_server(link, "127.0.0.1", port)
    await server.serve_forever()


async def main():
    await asyncio.gather(*map(serve, sys.argv[1:]))


asyncio.run(main())
