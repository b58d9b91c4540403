#!/usr/bin/env python3
"""A Moonbase voice device: press Enter, speak, hear the answer.

Python 3.8 or later and nothing else; sound goes through arecord and aplay
(Raspberry Pi OS: sudo apt install alsa-utils). With mpg123 installed the
answer comes in one request; without it, it is streamed.

    python3 moonbase-device.py http://192.168.1.10:3900 --code ABCD-EFGH-IJKM-NOPQ
"""
import argparse
import base64
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

FIRMWARE = "1.0.0"
HEARTBEAT_SECONDS = 60
WAIT_SECONDS_MAX = 60

PAIR_AGAIN = "In the console open Devices, choose New code, and start again with --code."
WHAT_TO_DO = {
    400: "The server did not understand the request: is this program up to date?",
    401: "The key or the code is not valid (a code lasts 15 minutes). " + PAIR_AGAIN,
    403: "This is not the key of a device. " + PAIR_AGAIN,
    410: "This code was used before. " + PAIR_AGAIN,
    413: "The recording is too long. Speak more briefly.",
    429: "Too many requests. Wait and try again.",
    502: "Nothing was understood, or a service behind the server is down. Please repeat.",
    503: "The server is busy. Try again shortly.",
}


class Refused(Exception):
    """The server answered, but not with 200."""

    def __init__(self, status, words, retry_after):
        super().__init__(f"{status} {words}\n{WHAT_TO_DO.get(status, 'Try again later.')}")
        self.status = status
        self.retry_after = retry_after


class Server:
    def __init__(self, address, ca):
        self.address = address.rstrip("/")
        self.context = ssl.create_default_context(cafile=ca)
        self.key = None

    def open(self, path, body, timeout=120):
        """The open answer to a POST. Raises Refused, or OSError when nobody answers."""
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers)
        try:
            return urllib.request.urlopen(request, timeout=timeout, context=self.context)
        except urllib.error.HTTPError as error:
            wait = error.headers.get("Retry-After", "")
            words = error.read(1000).decode("utf-8", "replace")
            raise Refused(error.code, words, int(wait) if wait.isdigit() else 1) from None

    def post(self, path, body):
        """Like open, but reads the JSON, and waits where the server asks to (429, 503)."""
        for last in (False, True):
            try:
                with self.open(path, body) as answer:
                    return json.load(answer)
            except Refused as refused:
                if last or refused.status not in (429, 503):
                    raise
                print(f"The server asks to wait {refused.retry_after} s.")
                time.sleep(min(refused.retry_after, WAIT_SECONDS_MAX))


def pair(server, code, path):
    """Exchanges the code for a key, which is shown only now, and keeps it."""
    # The file comes first: a key that cannot be kept would be lost, and the code is spent.
    # Only its owner may read it (mode 0600).
    handle, fresh = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(handle, "w") as file:
            paired = server.post("/v1/devices/activate", {"code": code})
            json.dump({"server": server.address, **paired}, file)
        os.replace(fresh, path)
    except BaseException:
        os.remove(fresh)
        raise
    server.key = paired["key"]
    print("Paired as device", paired["device_id"])


def load(server, path):
    """Takes the kept key, if there is one. A key goes to the server that it came from only."""
    if not os.path.exists(path):
        return
    with open(path) as file:
        kept = json.load(file)
    if kept["server"] != server.address:
        sys.exit(f"{path} is for {kept['server']}. Choose another file with --key-file.")
    server.key = kept["key"]


def heartbeat(server):
    server.post("/v1/devices/heartbeat", {"firmware": FIRMWARE, "hw_model": "Raspberry Pi"})


def keep_beating(server):
    while True:
        time.sleep(HEARTBEAT_SECONDS)
        try:
            heartbeat(server)
        except (Refused, OSError) as error:
            print("No heartbeat:", error)


def connect(server, code, path):
    """A valid key: the kept one, or a new one for the code."""
    load(server, path)
    try:
        if server.key:
            heartbeat(server)
            return
    except Refused as refused:
        if refused.status != 401 or not code:
            raise
    if not code:
        sys.exit("Not paired yet. " + PAIR_AGAIN)
    server.key = None
    pair(server, code, path)
    heartbeat(server)


def record(seconds):
    command = ["arecord", "-q", "-t", "wav", "-f", "S16_LE", "-r", "16000", "-c", "1"]
    return subprocess.run(command + ["-d", str(seconds)], stdout=subprocess.PIPE, check=True).stdout


def play_mp3(mp3):
    subprocess.run(["mpg123", "-q", "-"], input=mp3, check=True)


def speak(server, text):
    """Plays while it comes: signed 16-bit little-endian, 32 kHz, mono."""
    command = ["aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", "32000", "-c", "1"]
    with server.open("/v1/tts/stream", {"text": text}) as sound:
        player = subprocess.Popen(command, stdin=subprocess.PIPE)
        shutil.copyfileobj(sound, player.stdin, 3840)
        player.stdin.close()
        player.wait()


def converse(server, seconds, session):
    print(f"Listening for {seconds} s ...")
    sound = base64.b64encode(record(seconds)).decode()
    turn = server.post("/v1/voice", {"audio_b64": sound, "session_id": session})
    print("You:   ", turn["asr_text"])
    print("Answer:", turn["reply_text"])
    if turn["audio_b64"] and shutil.which("mpg123"):
        play_mp3(base64.b64decode(turn["audio_b64"]))
    else:
        speak(server, turn["reply_text"])


def main():
    options = argparse.ArgumentParser(description="A Moonbase voice device.")
    options.add_argument("server", help="such as http://192.168.1.10:3900")
    options.add_argument("--code", help="activation code, for the first start")
    options.add_argument("--key-file", default=os.path.expanduser("~/.moonbase-device.json"))
    options.add_argument("--ca", help="certificate of your own CA (PEM), for https")
    options.add_argument("--seconds", type=int, default=5, help="length of a recording")
    options.add_argument("--session", default="home", help="which conversation goes on")
    given = options.parse_args()
    server = Server(given.server, given.ca)
    try:
        connect(server, given.code, given.key_file)
    except (Refused, OSError) as error:
        sys.exit(str(error))
    threading.Thread(target=keep_beating, args=(server,), daemon=True).start()
    print("Press Enter and speak; Ctrl-D ends.")
    for _ in sys.stdin:
        try:
            converse(server, given.seconds, given.session)
        except Refused as refused:
            print(refused)
            if refused.status == 401:
                sys.exit(1)
        except (OSError, subprocess.CalledProcessError) as error:
            print("That did not work:", error)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
