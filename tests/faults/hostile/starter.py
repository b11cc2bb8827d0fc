"""Starts commands, and measures each: reads a command as a line of JSON, writes a line of what came of it. A process of its
own, since what a command is said to have taken of memory is at least what the process that started it has. The standard
output of a command is a terminal.
"""

import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
import tty

SAID = 1 << 16  # of what a command says
# What speaks to a terminal: control characters, also the second ones of ISO 6429, but for tabs and ends of lines.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


class Terminal:
    """Looks for control characters in what is written to it."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.found, self.last = b"", b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while True:
            try:
                text = os.read(self.master, 1 << 16)
            except OSError:  # nobody writes any more
                return
            control = CONTROL.search(self.last + text)
            if control and not self.found:
                self.found = (self.last + text)[max(0, control.start() - 40) : control.end() + 40]
            self.last = text[-1:] if text.endswith(b"\xc2") else b""

    def end(self):
        os.close(self.slave)
        self.reader.join()
        os.close(self.master)
        return self.found


def run(command, seconds, said):
    """status (negative: the signal), seconds, bytes of memory, what it said last, what speaks to the terminal"""
    begin = time.monotonic()
    os.truncate(said.fileno(), 0)
    os.lseek(said.fileno(), 0, os.SEEK_SET)
    terminal = Terminal()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal.slave, stderr=said)
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    size = os.fstat(said.fileno()).st_size
    text = os.pread(said.fileno(), SAID, max(0, size - SAID))
    return [process.returncode, time.monotonic() - begin, usage.ru_maxrss * 1024, text.hex(), terminal.end().hex()]


def main():
    seconds, addresses, said = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    with open(said, "w+b") as file:
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line), seconds, file)), flush=True)


if __name__ == "__main__":
    main()
