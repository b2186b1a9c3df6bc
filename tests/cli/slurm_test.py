#!/usr/bin/env python3
"""dlasim sweep --slurm against a real slurmctld and slurmd of this machine: docs/SWEEPS.md.

usage: slurm_test.py DLASIM [TestCase...]

The daemons - munged, slurmctld, slurmd - are started in a folder of their own, on ports of their own, and ended with the test. They need
root: slurmd starts tasks as users.
"""
import fcntl
import getpass
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import cli_test
from cli_test import SMALL
from sweep_test import SweepCase

CONFIGURATION = """
ClusterName=dlasim
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MinJobAge=60
SlurmdTimeout=30
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dlasim_slurm_"))
        self.running = []
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        self.host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(host=self.host, folder=self.folder, ports=free_ports(2)))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}
        self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munge.seed")
        self.until(lambda: (self.folder / "munge.socket").exists(), "munged has no socket")
        self.start("slurmctld", "-D", "-c")
        self.node = self.start("slurmd", "-D", "-N", self.host)
        self.until(lambda: "idle" in self.says("sinfo", "-h", "-o", "%T"), "the node does not become idle")

    def start(self, name, *arguments):
        with (self.folder / f"{name}.out").open("a") as log:
            process = subprocess.Popen([program(name), *arguments], env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self.running.append(process)
        return process

    def says(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def steps(self):
        """Processes of slurmd that start and watch the tasks."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and (process / "comm").read_text() == "slurmstepd\n" and \
                        str(self.folder) in (process / "cmdline").read_text(errors="replace") + (process / "environ").read_text(errors="replace"):
                    found.append(int(process.name))
            except OSError:  # it has just ended
                pass
        return found

    def until(self, holds, otherwise, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(f"{log.name}:\n{log.read_text()[-2000:]}" for log in self.folder.glob("*.log"))
                self.stop()
                raise RuntimeError(f"{otherwise}\n{logs}")
            time.sleep(0.1)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Slurm(SweepCase):
    SWEEP = {"base": {"layer": {"input": {"width": 24, "height": 24, "channels": 64}, "kernel": {"width": 3, "height": 3, "count": 32}}, "hw": "nv_small"},
             "axes": {"latency": [10, 40, 160], "cbuf.banks": [1, 2, 8, 16, 32]}}
    TABLES = ("points.csv", "points.json", "sweep.html")
    known = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        os.environ["SLURM_CONF"] = cls.cluster.environment["SLURM_CONF"]

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def local(self):
        """Tables of this machine, by the sweep; several tests make the same one."""
        key = str(self.SWEEP)
        if key not in self.known:
            self.assertEqual(self.sweep(self.SWEEP, "--jobs", 2, "--quiet", out="local").returncode, 4)  # a bank is too few
            self.known[key] = {name: self.without_folder("local", name) for name in self.TABLES}
        return self.known[key]

    def without_folder(self, out, name):
        return (self.folder / out / name).read_text().replace(str(self.folder), "FOLDER")

    def same_tables(self):
        for name, text in self.local().items():
            self.assertEqual(self.without_folder("out", name), text, name)

    def test_the_tables_are_those_of_this_machine(self):
        done = self.sweep(self.SWEEP, "--slurm", 4)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("4 of 4 shards", done.stdout)
        self.same_tables()
        self.assertTrue((self.folder / "out/points/0007/report.txt").exists())
        self.assertFalse((self.folder / "out/shards").exists())

    def start_long(self):
        """A sweep of some seconds, of which some points have ended."""
        self.SWEEP = {"base": {"layer": SweepCase.LONG, "hw": "nv_small"}, "axes": {"latency": list(range(10, 70, 5)), "cbuf.banks": [1, 32]}}
        run = self.start(self.SWEEP, "--slurm", "2")
        self.addCleanup(run.kill)
        self.cluster.until(lambda: len(list(self.folder.glob("out/shards/*/points/*/result.json"))) >= 2, "no point ends")
        return run

    def test_killed_tasks_and_lost_nodes_lose_nothing(self):
        run = self.start_long()
        job = (self.folder / "out/shards/job.txt").read_text().strip()
        for task in self.cluster.says("squeue", "-h", "-r", "-t", "R", "-j", job, "-o", "%A").split()[:1]:
            self.cluster.says("scancel", "--signal=KILL", "--full", task)  # a task
        time.sleep(1)
        self.cluster.node.kill()  # the daemon of the node, and what it runs
        self.cluster.node.wait()
        self.cluster.running.remove(self.cluster.node)
        for process in self.cluster.steps():
            os.kill(process, signal.SIGKILL)
        self.cluster.says("scontrol", "update", f"nodename={self.cluster.host}", "state=down", "reason=lost")
        self.cluster.node = self.cluster.start("slurmd", "-D", "-N", self.cluster.host)
        self.cluster.says("scontrol", "update", f"nodename={self.cluster.host}", "state=resume")
        out, err = run.communicate(timeout=240)
        self.assertEqual(run.returncode, 4, out + err)
        self.same_tables()

    def test_a_killed_sweep_finds_its_job_again(self):
        run = self.start_long()
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=60)
        first = (self.folder / "out/shards/job.txt").read_text()
        done = self.sweep(self.SWEEP, "--slurm", 2, "--resume")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn(f"job {first.strip()}: ", done.stdout)
        self.assertNotIn("shards\n", done.stdout)  # no other job was needed
        self.same_tables()

    def test_a_task_of_a_lost_node_may_go_on_writing(self):
        run = self.start_long()
        run.send_signal(signal.SIGKILL)
        run.communicate(timeout=60)
        job = (self.folder / "out/shards/job.txt").read_text().strip()
        self.cluster.says("scancel", job)
        self.cluster.until(lambda: not self.cluster.says("squeue", "-h", "-t", "R,PD,CG", "-j", job), "the job does not end")
        with (self.folder / "out/shards/2/points/.lock").open("r+") as lock:  # as a task does that its node has lost
            fcntl.flock(lock, fcntl.LOCK_EX)
            rest = lock.read().split("\n")[1:]
            lock.seek(0)
            lock.write("\n".join([str(os.getpid()), *rest]))
            lock.truncate()
            lock.flush()
            run = self.start(self.SWEEP, "--slurm", "2", "--resume")
            self.addCleanup(run.kill)
            said = ""
            while "waiting for its end" not in said:
                line = run.stdout.readline()
                self.assertTrue(line, said)
                said += line
            time.sleep(3)  # many looks
        out, err = run.communicate(timeout=240)
        self.assertEqual(run.returncode, 4, said + out + err)
        self.assertIn("shard 2: a task of an earlier job still writes", said)
        self.same_tables()

    def test_an_interrupted_sweep_ends_its_job(self):
        run = self.start_long()
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertIn("--resume", err)
        self.assertEqual(self.cluster.says("squeue", "-h", "-t", "R,PD"), "")
        database = sqlite3.connect(self.folder / "out/points.db")
        kept = database.execute("SELECT count(*) FROM kept").fetchone()[0]
        database.close()
        self.assertGreaterEqual(kept, 2)
        done = self.sweep(self.SWEEP, "--resume", "--jobs", 2)  # goes on without Slurm too
        self.assertEqual(done.returncode, 4, done.stderr)
        self.same_tables()

    def test_what_slurm_refuses_is_said(self):
        os.environ["SBATCH_PARTITION"] = "none"
        try:
            done = self.sweep(self.SWEEP, "--slurm", 2)
        finally:
            del os.environ["SBATCH_PARTITION"]
        self.assertEqual(done.returncode, 2)
        self.assertIn("sbatch refuses", done.stderr)
        self.assertIn("partition", done.stderr)
        path, os.environ["PATH"] = os.environ["PATH"], "/none"
        try:
            done = self.sweep(self.SWEEP, "--slurm", 2, "--restart")
        finally:
            os.environ["PATH"] = path
        self.assertEqual(done.returncode, 2)
        self.assertIn("sbatch cannot be run", done.stderr)


if __name__ == "__main__":
    cli_test.DLASIM = os.path.abspath(sys.argv.pop(1))
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel") if not program(name)]
    if missing or getpass.getuser() != "root":
        sys.exit(f"slurm_test: needs root and {', '.join(missing) or 'nothing else'}")
    unittest.main()
