"""A program that leaves a daemon behind, and prints its id."""

DAEMON = """
import os, time
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.chdir("/")
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.closerange(0, 25)
        time.sleep(60)
    os._exit(0)
os.wait()
os.close(writer)
os.read(reader, 1)  # nothing: the daemon has closed its end
"""
