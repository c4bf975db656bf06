"""An HTTPS endpoint of a test. Its certificate is that of the variables `TLS_CERTIFICATE` and `TLS_KEY`."""
import os
import socket
import ssl
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reset(self):
        """Closes the connection with a reset."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for stream in (self.wfile, self.rfile, self.connection):
            stream.close()

    def log_message(self, *_):
        pass


def serve(port, endpoint):
    """Serves an endpoint until the process ends that has started this one."""
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", port), endpoint)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.environ["TLS_CERTIFICATE"], os.environ["TLS_KEY"])
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
