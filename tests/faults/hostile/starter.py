"""Starts commands, and measures each: reads a command as a line of JSON, writes a line of what came of it. A process of its
own, since what a command is said to have taken of memory is at least what the process that started it has.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time

SAID = 1 << 16  # of what a command says


def run(command, seconds, said):
    """status (negative: the signal), seconds, bytes of memory, what it said last"""
    begin = time.monotonic()
    os.truncate(said.fileno(), 0)
    os.lseek(said.fileno(), 0, os.SEEK_SET)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    timer.cancel()
    size = os.fstat(said.fileno()).st_size
    text = os.pread(said.fileno(), SAID, max(0, size - SAID))
    return [process.returncode, time.monotonic() - begin, usage.ru_maxrss * 1024, text.hex()]


def main():
    seconds, addresses, said = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    with open(said, "w+b") as file:
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line), seconds, file)), flush=True)


if __name__ == "__main__":
    main()
