#!/usr/bin/env python3
"""exchange_rate.py BIN [RANKS...]: runs the program exchange_rate (-DFSDPCKPT_BENCH=ON) by so many ranks on loopback."""
import socket
import subprocess
import sys


def free_ports():
    """Two neighbouring ports that nobody has at the moment."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


def main():
    program, sizes = sys.argv[1], [int(text) for text in sys.argv[2:]] or [2, 4]
    for size in sizes:
        for mebibytes in (1, 8, 32):
            port = free_ports()
            ranks = [subprocess.Popen([program, str(rank), str(size), str(port), str(mebibytes)]) for rank in range(size)]
            if any(rank.wait(timeout=300) for rank in ranks):
                sys.exit(1)


if __name__ == "__main__":
    main()
