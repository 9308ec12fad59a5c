"""Runs a program in a terminal of its own, as a person has it: `python3 terminal.py COMMAND…`.

What it draws goes to standard output. The questions a program asks its terminal (where the cursor is, what it can do)
are answered; nobody types.
"""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios

ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c", b"\x1b[0c": b"\x1b[?62;22c", b"\x1b[?u": b"\x1b[?0u"}
COLOURS = {b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\"}

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
signal.signal(signal.SIGTERM, lambda *_: (os.kill(child, signal.SIGKILL), sys.exit(0)))
while True:
    ready, _, _ = select.select([terminal], [], [], 1)
    if ready:
        try:
            drawn = os.read(terminal, 65536)
        except OSError:
            break
        if not drawn:
            break
        os.write(1, drawn)
        for question, answer in (ANSWERS | COLOURS).items():
            if question in drawn:
                os.write(terminal, answer)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
