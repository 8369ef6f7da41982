"""A shell at a pseudo-terminal, as its user meets it."""
import os
import pty
import re
import select
import signal
import struct
import time
import fcntl
import termios


class Shell:
    """Runs a shell of 120 columns; `type` sends keys, `until` waits for what it shows."""

    def __init__(self, words, environment, folder):
        pid, self.descriptor = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self.pid = pid
        self.shown = ""
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def type(self, keys):
        os.write(self.descriptor, keys.encode())

    def read(self, seconds):
        """Takes what comes until nothing has come for so long."""
        while select.select([self.descriptor], [], [], seconds)[0]:
            try:
                self.shown += os.read(self.descriptor, 65536).decode(errors="replace")
            except OSError:
                return

    def until(self, holds, seconds=10.0):
        """Waits until `holds()`; False if it does not in time."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                return False
            self.read(0.05)
        return True

    def text(self):
        """What was shown, without colors and movements."""
        return re.sub(r"\x1b(\[[0-9;?>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-B]|[=>])", "", self.shown)

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)
