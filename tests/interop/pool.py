"""Long-lived worlds of real torch ranks: processes in a gloo group that run one job after another.

Starting torch and a process group takes seconds, a small save takes milliseconds: so each world size is
forked once, from a parent that has torch loaded, and then fed through pipes.
"""
import atexit
import datetime
import multiprocessing
import os
import tempfile
import traceback
from collections import deque

import torch
import torch.distributed as dist


def _rank_main(rank, size, store, pipe):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size, store=dist.FileStore(store, size),
                            timeout=datetime.timedelta(seconds=120))
    while True:
        job = pipe.recv()
        if job is None:
            break
        function, args = job
        try:
            pipe.send((True, function(rank, size, *args)))
        except BaseException:  # torch's CheckpointException is not an Exception
            pipe.send((False, traceback.format_exc()))
    os._exit(0)


class World:
    """`size` ranks. Jobs are answered in the order in which they were submitted."""

    def __init__(self, size):
        fork = multiprocessing.get_context("fork")
        self.size, self.waiting = size, deque()
        self.folder = tempfile.TemporaryDirectory(prefix="fsdpckpt-world-")
        self.pipes, self.processes = [], []
        for rank in range(size):
            here, there = fork.Pipe()
            args = (rank, size, os.path.join(self.folder.name, "store"), there)
            process = fork.Process(target=_rank_main, args=args, daemon=True)
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)

    def submit(self, function, *args):
        """Run function(rank, size, *args) on every rank; the function must live in a module."""
        for pipe in self.pipes:
            pipe.send((function, args))
        self.waiting.append(function)

    def result(self):
        """The oldest job's answers, by rank; RuntimeError with the trace of a rank that failed."""
        self.waiting.popleft()
        answers, failed = [None] * self.size, None
        for rank, pipe in enumerate(self.pipes):
            if failed and not pipe.poll(5):  # the others may be stuck in a collective with the failed rank
                continue
            ok, answers[rank] = pipe.recv()
            failed = failed or (None if ok else f"rank {rank} of {self.size}:\n{answers[rank]}")
        if failed:
            self.stop()
            raise RuntimeError(failed)
        return answers

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()
        self.folder.cleanup()


class Worlds:
    """World sizes, each started when first used and started anew after a failure."""

    def __init__(self):
        self.worlds = {}
        atexit.register(self.stop)

    def __getitem__(self, size):
        world = self.worlds.get(size)
        if world is None or not all(p.is_alive() for p in world.processes):
            world = self.worlds[size] = World(size)
        return world

    def run(self, size, function, *args):
        self[size].submit(function, *args)
        return self[size].result()

    def stop(self):
        for world in self.worlds.values():
            world.stop()
        self.worlds.clear()
