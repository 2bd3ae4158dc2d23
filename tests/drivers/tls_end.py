"""A TLS end before a TDS server that has none, with a certificate that nobody signed.

usage: tls_end.py PORT: writes its own port, and ends with its standard input. TDS carries the handshake in its own
packets; afterwards TLS carries TDS.
"""

import select
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading

ANSWER = 4
PRELOGIN = 18
HEADER = 8
ENCRYPTION = 0x20  # its place in the server's greeting
DEMANDED = b"\x01"


def certificate():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # as far as TDS 7 goes
    with tempfile.TemporaryDirectory() as folder:
        key, signed = folder + "/key", folder + "/certificate"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-keyout", key, "-out", signed], check=True, capture_output=True)
        context.load_cert_chain(signed, key)
    return context


def exactly(end, size):
    out = b""
    while len(out) < size:
        part = end.recv(size - len(out))
        if not part:
            raise EOFError
        out += part
    return out


def packet(end):
    header = exactly(end, HEADER)
    return exactly(end, struct.unpack(">H", header[2:4])[0] - HEADER)


def send_packet(end, kind, body):
    end.sendall(struct.pack(">BBHHBB", kind, 1, len(body) + HEADER, 0, 1, 0) + body)


def serve(client, context, port):
    asked = packet(client)
    server = socket.create_connection(("127.0.0.1", port))
    send_packet(server, PRELOGIN, asked)
    greeting = packet(server)
    send_packet(client, ANSWER, greeting[:ENCRYPTION] + DEMANDED + greeting[ENCRYPTION + 1:])
    came, gone = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(came, gone, server_side=True)
    done = False
    while not done:
        try:
            tls.do_handshake()
            done = True
        except ssl.SSLWantReadError:
            pass
        if gone.pending:
            send_packet(client, PRELOGIN, gone.read())
        if not done:
            came.write(packet(client))
    while True:
        ready, _, _ = select.select([client, server], [], [])
        if server in ready:
            part = server.recv(65536)
            if not part:
                return
            tls.write(part)
            client.sendall(gone.read())
        if client in ready:
            part = client.recv(65536)
            if not part:
                return
            came.write(part)
            try:
                while True:
                    server.sendall(tls.read(65536))
            except ssl.SSLWantReadError:
                pass


def guest(client, context, port):
    try:
        serve(client, context, port)
    except (EOFError, OSError):  # ssl.SSLError is one: the client does not trust the certificate
        pass
    client.close()


def main():
    context = certificate()
    place = socket.create_server(("127.0.0.1", 0))
    print(place.getsockname()[1], flush=True)

    def accept():
        while True:
            client, _ = place.accept()
            threading.Thread(target=guest, args=(client, context, int(sys.argv[1])), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
