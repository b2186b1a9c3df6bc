"""Processor time and memory of one command. Python standard library only."""
import os
import subprocess
import tempfile


def cpu_time(command):
    """CPU seconds, user and system; peak memory in MB; its standard error. Raises subprocess.CalledProcessError."""
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command, stderr=text)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text
