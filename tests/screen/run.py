#!/usr/bin/python3
"""attn explore and attn train --watch at a pseudo-terminal: what an emulator shows is what --print says; sizes change,
the program is stopped, goes on and is killed, and the terminal is as it was.

usage: run.py --program ATTN [--seconds N]   N seconds of random keys at the end (default 5)
       run.py --program ATTN --only-random [--seconds N]
       run.py --program ATTN --only-watch
       run.py --program ATTN --all           trainings in each look at each size, and not in one that every run draws
       run.py --program ATTN --measure       how long a key takes, and how many bytes it writes

Needs python3-pyte.
"""
import argparse
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

SIZES = [(24, 80), (40, 120), (12, 40)]
# Terminals with 16, 256 and all colors, without color, and in light and dark.
LOOKS = [{"TERM": "xterm"}, {"TERM": "xterm-256color"}, {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
         {"TERM": "xterm-256color", "NO_COLOR": "1"}, {"TERM": "xterm-256color", "ATTN_THEME": "light"},
         {"TERM": "linux"}, {"TERM": "screen-256color"}]
# What keys send: what terminfo says of the terminal, or always the same.
NAMES = {"up": "kcuu1", "down": "kcud1", "right": "kcuf1", "left": "kcub1", "backtab": "kcbt", "pgup": "kpp", "pgdn": "knp"}
KEYS = {"enter": "\r", "tab": "\t", "backspace": "\x7f", "esc": "\x1b"}
# The keys as a script has them, and the command that is explored.
PATHS = [("walk --example animal", ""),
         ("walk --example animal", "g head.1.weights[it,animal] enter enter backspace down right"),
         ("walk --example animal", "= 0.5 enter > > d"),
         ("walk --example animal", "m right down ]"),
         ("walk --example padding", "n n tab t / 3 enter"),
         ("walk --text 語と言葉_and_words", "tab right n N"),
         ("transformer --model copy", "g logits enter s right right u"),
         ("align", "b largest(abs(scores))<0 enter B c")]


def words_of(line):
    """The words of a command line; in a sentence, _ stands for a blank."""
    return [word.replace("_", " ") for word in line.split()]


class Session:
    def __init__(self, program, line, size, look, command="explore"):
        self.size = size
        self.gets_quiet = command == "explore"
        self.keys = dict(KEYS)
        for name, capability in NAMES.items():
            told = subprocess.run(["tput", "-T", look["TERM"], capability], capture_output=True, text=True).stdout
            self.keys[name] = told or "\x1b"
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("COLORTERM", "NO_COLOR", "COLORFGBG", "ATTN_THEME")}
        environment.update(look, LC_ALL="C.UTF-8", ESCDELAY="25")
        # A shell stands between, as at a terminal: what has no parent in its session cannot be stopped.
        self.told, tells = os.pipe()
        waits, begin = os.pipe()
        child, self.fd = pty.fork()
        if child == 0:
            os.read(waits, 1)
            self.be_shell(program, command, line, size, environment, tells)
        self.before = termios.tcgetattr(self.fd)
        os.write(begin, b"!")
        for end in (tells, waits, begin):
            os.close(end)
        self.pid = int(self.hear())
        self.screen = pyte.Screen(size[1], size[0])
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        if self.gets_quiet:
            self.read(3.0)

    @staticmethod
    def be_shell(program, command, line, size, environment, tells):
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        for number in (signal.SIGTTOU, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for number in (signal.SIGTTOU, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            os.execve(program, [program, command, *words_of(line)], environment)
        os.write(tells, f"{pid}\n".encode())
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                os.write(tells, b"stopped\n")
                continue
            os.write(tells, f"{status}\n".encode())
            time.sleep(2)
            os._exit(0)

    def hear(self, seconds=5.0):
        """What the shell tells; None: nothing in this time."""
        text = b""
        while not text.endswith(b"\n"):
            if not select.select([self.told], [], [], seconds)[0]:
                return None
            byte = os.read(self.told, 1)
            if not byte:
                return None
            text += byte
        return text.decode().strip()

    def resize(self, size):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.size = size
        self.screen.resize(*size)
        self.read() if self.gets_quiet else self.watch(0.3)

    def read(self, first=0.6):
        """What comes until it is quiet. Returns how much."""
        wait, count = first, 0
        while select.select([self.fd], [], [], wait)[0]:
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                break
            if not data:
                break
            self.bytes += data
            count += len(data)
            self.stream.feed(data)
            wait = 2.0 if self.tell_color(data) else 0.03
        return count

    def watch(self, seconds):
        """What comes in this time, also where it never gets quiet."""
        deadline = time.time() + seconds
        while (left := deadline - time.time()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return
            try:
                data = os.read(self.fd, 1 << 16)
            except OSError:
                return
            self.bytes += data
            self.stream.feed(data)
            self.tell_color(data)

    def tell_color(self, data):
        """What a terminal answers that is asked for its color and for what it is. Whether it was."""
        if b"\x1b]11;?" not in data:
            return False
        os.write(self.fd, b"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?6c")
        return True

    def type(self, text, first=0.3):
        os.write(self.fd, text.encode())
        return self.read(first) if self.gets_quiet else self.watch(first)

    def press(self, script):
        """Keys as a script has them; words behind what asks for a line are typed."""
        words, asked, first = script.split(), False, False
        for word in words:
            if word in self.keys:
                self.type(self.keys[word], 0.06)
                asked = asked and word not in ("enter", "esc")
                continue
            for character in word:
                self.type(character, 0.06)
            asked = asked or word in "/g=b"

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def end(self):
        """The status with which the program ended."""
        self.read(0.2) if self.gets_quiet else self.watch(0.5)
        status = self.hear()
        if status is None:
            os.kill(self.pid, signal.SIGKILL)
            raise SystemExit("the program does not end")
        self.read(0.1)
        return int(status)

    def has_its_lines(self):
        """Whether the terminal takes lines as before."""
        return termios.tcgetattr(self.fd)[:4] == self.before[:4]

    def is_as_it_was(self):
        """The lines of the terminal and its modes."""
        return (self.has_its_lines()
                and self.bytes.rfind(b"\x1b[?1049l") >= self.bytes.rfind(b"\x1b[?1049h")
                and self.bytes.rfind(b"\x1b[?1000l") >= self.bytes.rfind(b"\x1b[?1000h")
                and self.bytes.rfind(b"\x1b[?25h") > self.bytes.rfind(b"\x1b[?25l"))


failures = 0


def check(is_right, *what):
    global failures
    if not is_right:
        failures += 1
        print("WRONG:", *what, file=sys.stderr)


def printed(program, line, script, size):
    result = subprocess.run([program, "explore", *words_of(line), "--keys", script,
                             "--screen", f"{size[1]}x{size[0]}"], capture_output=True, text=True)
    return "\n".join(part.rstrip() for part in result.stdout.split("\n"))


def same(shown, expected):
    # An emulator puts a blank behind a wide character, and where there are colors a map needs no shades.
    def squeezed(text):
        return "".join(c for c in text if c not in " \n░▒▓█")
    return squeezed(shown) == squeezed(expected)


def measure(program):
    """How long it takes from a key to what it shows, and how many bytes that is, for 200 words and 12 heads."""
    words = " ".join(f"w{i}" for i in range(200))
    session = Session(program, f"walk --heads 12 --d-model 96 --seed 1 --text {words.replace(' ', '_')}", SIZES[0], LOOKS[1])
    print("| key | ms, median | ms, most | bytes, median | bytes, most |")
    print("| :--- | ---: | ---: | ---: | ---: |")
    for name, keys, times in [("→", "right", 30), ("↓", "down", 30), ("Tab", "tab", 4), ("Backspace", "backspace", 4),
                              ("n", "n", 10), ("N", "N", 10), ("]", "]", 5), ("Enter", "enter", 4),
                              ("m, the maps of all heads", "m", 2), ("t", "t", 2),
                              ("Enter behind = 3, a change", "= 3 enter", 5), ("→ of the slider", "s right", 5),
                              (">", ">", 5), ("d", "d", 2), ("U", "U", 1), ("e, without each of 12 heads", "g output enter e", 1)]:
        milliseconds, sizes = [], []
        for _ in range(times):
            *before, last = keys.split()
            for word in before:
                session.press(word) if len(word) == 1 or word in session.keys else [session.type(c) for c in word]
            start = time.perf_counter()
            os.write(session.fd, session.keys.get(last, last).encode())
            if not select.select([session.fd], [], [], 5)[0]:
                continue
            milliseconds.append(1000 * (time.perf_counter() - start))
            sizes.append(session.read())
        if not sizes:
            continue
        milliseconds.sort()
        sizes.sort()
        print(f"| {name} | {milliseconds[len(milliseconds) // 2]:.1f} | {milliseconds[-1]:.1f} |"
              f" {sizes[len(sizes) // 2]} | {sizes[-1]} |")
    session.type("q")
    session.end()


def try_paths(program):
    """Returns how many paths were tried."""
    count = 0
    for i, (line, script) in enumerate(PATHS):
        for size in SIZES:
            for look in [LOOKS[(i + size[0]) % len(LOOKS)]]:
                session = Session(program, line, size, look)
                session.press(script)
                session.read(0.2)
                expected = printed(program, line, script, size)
                check(same(session.text(), expected), line, script, size, look, "\n" + session.text() + "\n" + expected)
                colored = any(cell.fg != "default" or cell.bg != "default"
                              for row in session.screen.buffer.values() for cell in row.values())
                check(not (colored and "NO_COLOR" in look), "color that nobody wants:", line, look)
                session.type("q")
                check(session.end() == 0, "exit code:", line, script, size, look)
                check(session.is_as_it_was(), "left behind:", line, script, size, look, session.bytes[-300:])
                count += 1
    # Other sizes, and back.
    line = "walk --example animal"
    session = Session(program, line, SIZES[0], LOOKS[1])
    for size in [(40, 120), (12, 40), (2, 10), (24, 80)]:
        session.resize(size)
        check(same(session.text(), printed(program, line, "", size)), "another size:", size, "\n" + session.text())
    # Stopped, and on again.
    for stop in ("\x1a", None):
        if stop:
            session.type(stop)
        else:
            os.kill(session.pid, signal.SIGTSTP)
        check(session.hear() == "stopped", "it does not stop")
        session.read(0.2)
        check(session.is_as_it_was(), "left behind while it is stopped")
        session.screen.reset()
        os.kill(session.pid, signal.SIGCONT)
        session.read()
        check(same(session.text(), printed(program, line, "", SIZES[0])), "after it was stopped:\n" + session.text())
        session.press("right")
        session.press("left")
    session.type("q")
    check(session.end() == 0 and session.is_as_it_was(), "the end after it was stopped")
    # Killed.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        session = Session(program, line, SIZES[0], LOOKS[1])
        os.kill(session.pid, number)
        status = session.end()
        check(os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != 0, "killed by", number, status)
        check(session.is_as_it_was(), "left behind when killed by", number)
    for key in ("\x03", "\x04"):
        session = Session(program, line, SIZES[0], LOOKS[1])
        session.type(key)
        session.end()
        check(session.is_as_it_was(), "left behind after", repr(key))
    # Where it cannot be shown.
    result = subprocess.run([program, "explore"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(result.returncode == 0 and "weights" in result.stdout, "without a terminal:", result)
    session = Session(program, "walk", SIZES[0], {"TERM": "dumb"})
    check(session.end() != 0 and b"--print" in session.bytes, "a terminal that cannot move its cursor:", session.bytes)
    return count


def try_watch(program, in_all_looks):
    """Returns how many trainings were watched."""
    count = 0
    endless, short = "sort --steps 1000000 --watch --no-pager", "sort --steps 40 --watch"

    def watched(line, size=SIZES[0], look=LOOKS[1]):
        session = Session(program, line, size, look, "train")
        session.watch(1.0)
        return session

    for size in SIZES:
        looks = [look for look in LOOKS if "ATTN_THEME" not in look]
        for look in looks if in_all_looks else [random.choice(looks)]:
            session = watched(endless, size, look)
            text = session.text()
            check("step" in text and "head " in text, "no frame:", size, look, "\n" + text)
            check(("Loss" in text) == (size[1] >= 60), "the curve:", size, "\n" + text)
            check("q" in text.split("\n")[-2] or "q" in text, "no keys:", size, "\n" + text)
            session.type(" ")
            session.watch(0.3)
            paused = session.text()
            check("go on" in paused, "it does not pause:", size, look, "\n" + paused)
            session.watch(0.4)
            check(session.text() == paused, "it goes on while it is paused:", size, look)
            session.type("\x1b[D")
            session.type("\x1b[D")
            session.watch(0.2)
            back = session.text()
            check(back.split("\n")[0] != paused.split("\n")[0], "it does not look back:", size, "\n" + back)
            session.type("\x1b[C")
            session.type("\x1b[C")
            session.watch(0.2)
            check(session.text().split("\n")[0] == paused.split("\n")[0], "not at the last frame:", "\n" + session.text())
            session.type("\x1b[C")
            session.watch(0.4)
            check(session.text().split("\n")[0] != paused.split("\n")[0], "no single step:", "\n" + session.text())
            session.type(" -")
            session.watch(0.3)
            if size[1] >= 80:
                check("/s" in session.text(), "it is not slowed down:", size, "\n" + session.text())
            colored = any(cell.fg != "default" or cell.bg != "default"
                          for row in session.screen.buffer.values() for cell in row.values())
            if size[1] >= 60:  # with the curve
                check(colored != ("NO_COLOR" in look), "colors:", look, size)
            session.type("q")
            session.watch(0.3)
            check("step" in session.text() and "go on" not in session.text(), "the last frame:", "\n" + session.text())
            os.kill(session.pid, signal.SIGINT)
            check(session.end() == 0 and session.has_its_lines(), "left behind after q:", size, look)
            count += 1
    # The last frame stays until a key, and the page is written below it.
    session = watched(short)
    check("frame" in session.text() and "Enter" in session.text(), "the end:", "\n" + session.text())
    session.type("\x1b[D")
    session.type("\r")
    session.watch(0.5)
    check(b"Training: sort" in session.bytes, "no page:", session.bytes[-500:])
    session.type("q")
    check(session.end() == 0 and session.has_its_lines(), "left behind at the end")
    # Another size, and stopped.
    session = watched(endless)
    for size in [(40, 120), (12, 40), (24, 80)]:
        session.resize(size)
        session.screen.reset()
        session.watch(0.6)
        check("step" in session.text(), "another size:", size, "\n" + session.text())
    session.type("\x1a")
    check(session.hear() == "stopped" and session.has_its_lines(), "it does not stop, or leaves its keys behind")
    os.kill(session.pid, signal.SIGCONT)
    session.watch(0.5)
    check(not session.has_its_lines(), "its keys are lost after it was stopped")
    # One signal ends the training and writes the page, and two end the program.
    os.kill(session.pid, signal.SIGTERM)
    check(session.end() == 0 and session.has_its_lines(), "left behind by a signal")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        session = watched(endless)
        session.type(" ")
        os.kill(session.pid, number)
        os.kill(session.pid, number)
        session.end()
        check(session.has_its_lines(), "left behind when killed by", number)
    session = watched(endless)
    session.type("\x03")
    check(session.end() == 0 and session.has_its_lines(), "left behind after Ctrl-C")
    try_signals(watched)
    return count


def try_signals(watched):
    """After a signal what was learned is saved, and nothing waits for a key; also where Ctrl-S holds the terminal."""
    control_s, control_q = "\x13", "\x11"
    before = os.getcwd()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        for is_held in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                state = os.path.join(folder, "state.safetensors")
                os.chdir(folder)
                session = watched("sort --steps 1000000 --watch --save state.safetensors", size=(12, 80))
                os.chdir(before)
                if is_held:
                    os.write(session.fd, control_s.encode())
                    time.sleep(1.0)
                os.kill(session.pid, number)
                deadline = time.time() + 20.0
                while not os.path.exists(state) and time.time() < deadline:
                    time.sleep(0.05)
                check(os.path.exists(state), "nothing is saved after", number, "held:", is_held)
                if is_held:
                    os.write(session.fd, control_q.encode())
                check(session.end() == 0 and session.has_its_lines(), "left behind after", number, "held:", is_held)
                check(b"Training: sort" in session.bytes, "no page after", number, "held:", is_held)
                check(b"next page" not in session.bytes, "it waits for a key after", number, "held:", is_held)


def try_random_keys(program, seconds):
    """Returns how many bursts of keys were sent."""
    # Any keys.
    chance = random.Random(17)
    deadline = time.time() + seconds
    keys = [*KEYS.values(), "\x1bOA", "\x1bOB", "\x1b[C", "\x1b[D", "\x1b[Z", "\x1b[5~", "\x1b[6~",
            *(chr(c) for c in range(32, 127) if chr(c) != "q"), "\x1b[<0;20;5M", "\x1b[<0;20;5m", "\x1b", "é",
            "\xff", "\x00", "\x1b[200~", "g head.1.weights[it,it]\r", "=1\r", "U"]
    presses = 0
    while time.time() < deadline:
        session = Session(program, PATHS[chance.randrange(len(PATHS))][0], chance.choice(SIZES), chance.choice(LOOKS))
        for _ in range(200):
            if time.time() > deadline:
                break
            try:
                os.write(session.fd, "".join(chance.choice(keys) for _ in range(chance.randrange(1, 6))).encode())
            except OSError:
                break
            if chance.randrange(40) == 0:
                session.resize(chance.choice(SIZES))
            session.read(0.01)
            presses += 1
            if session.hear(0) is not None:
                check(False, "it ended by itself:", session.bytes[-2000:].decode(errors="replace"))
                break
        else:
            os.kill(session.pid, signal.SIGTERM)
            session.end()
        if session.pid and time.time() > deadline:
            try:
                os.kill(session.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.close(session.fd)
    return presses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only-random", action="store_true")
    parser.add_argument("--only-watch", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.measure:
        return measure(program)
    watched = 0 if arguments.only_random else try_watch(program, arguments.all)
    count = 0 if arguments.only_random or arguments.only_watch else try_paths(program)
    presses = 0 if arguments.only_watch else try_random_keys(program, arguments.seconds)
    print(f"{watched} trainings watched and {count} paths at a pseudo-terminal, {presses} bursts of random keys,"
          f" {failures} wrong")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
