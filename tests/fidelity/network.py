"""Network namespaces, one a rank, whose links are shaped by tc, and the clusters that describe them.

What makes them like the network of a cluster:
- Each link is a token bucket (tbf) of 4 KB: a larger one would let the first 64 KB of a message pass for nothing.
- TCP is Reno without a new slow start after idle: BBR, the default of some systems, probes for bandwidth
  and drains its queues every ten seconds, which takes as long as a step. Windows of 64 KB are several times
  what such links hold, and keep a queue in which many senders meet from growing until packets are lost.
"""

import subprocess

RANKS = 8
SUBNET = "10.77.0"
# What Ethernet, IP and TCP leave of a link's bits for payload.
PAYLOAD = 1448 / 1514
LATENCY_US = 80


def call(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def shape(inside, device, megabits):
    call(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{megabits}mbit", "burst", "4kb",
         "latency", "2s")


class Namespaces:
    """8 ranks on one switch, or `between`: 4 on each of two switches, joined by one link of so many megabits."""

    def __init__(self, megabits, between=None):
        self.megabits, self.between = megabits, between

    def __enter__(self):
        self.remove()
        try:
            for bridge in self.bridges():
                call("ip", "link", "add", bridge, "type", "bridge")
                call("ip", "link", "set", bridge, "up")
            if self.between:
                self.join()
            for rank in range(RANKS):
                self.add(rank)
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *unused):
        self.remove()

    def bridges(self):
        return ["strato-br0", "strato-br1"] if self.between else ["strato-br0"]

    def join(self):
        ends = ["strato-x0", "strato-x1"]
        call("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for bridge, end in zip(self.bridges(), ends):
            call("ip", "link", "set", end, "master", bridge)
            call("ip", "link", "set", end, "up")
            shape([], end, self.between)

    def add(self, rank):
        name, outer, inner = f"strato{rank}", f"strato-o{rank}", f"strato-i{rank}"
        bridges = self.bridges()
        call("ip", "netns", "add", name)
        call("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
        call("ip", "link", "set", inner, "netns", name)
        call("ip", "link", "set", outer, "master", bridges[rank * len(bridges) // RANKS])
        call("ip", "link", "set", outer, "up")
        inside = ["ip", "netns", "exec", name]
        call(*inside, "ip", "addr", "add", f"{SUBNET}.{rank + 1}/24", "dev", inner)
        call(*inside, "ip", "link", "set", inner, "up")
        call(*inside, "ip", "link", "set", "lo", "up")
        call(*inside, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno",
             "net.ipv4.tcp_slow_start_after_idle=0", "net.ipv4.tcp_rmem=4096 65536 65536")
        shape([], outer, self.megabits)
        shape(inside, inner, self.megabits)

    @staticmethod
    def remove():
        for rank in range(RANKS):
            subprocess.run(["ip", "link", "del", f"strato-o{rank}"], capture_output=True)
            subprocess.run(["ip", "netns", "del", f"strato{rank}"], capture_output=True)
        for link in ("strato-x0", "strato-br0", "strato-br1"):
            subprocess.run(["ip", "link", "del", link], capture_output=True)

    def launch_options(self):
        return ["--links", "fair", "--engine", "replay",
                "--set", "namespace=" + ",".join(f"strato{rank}" for rank in range(RANKS)),
                "--set", "address=" + ",".join(f"{SUBNET}.{rank + 1}" for rank in range(RANKS))]

    def cluster(self):
        """The same network as a cluster, of three kinds of GPUs as slow as it is."""
        kinds = {"slow": 2, "middle": 3, "fast": 5}
        gpus = [{"name": name, "memory_bytes": 8 << 30, "memory_bandwidth_GBps": speed,
                 "peak_tflops": {"fp32": speed / 200}} for name, speed in kinds.items()]

        def link(kind, megabits):
            return {"kind": kind, "bandwidth_GBps": megabits / 8000 * PAYLOAD, "latency_us": LATENCY_US}

        def machine(name, count, *types):
            return {"name": name, "count": count, "gpus": [{"type": t, "count": n} for t, n in types]}

        if self.between:
            name = f"2 x 4 at {self.megabits}, {self.between} between"
            machines = [machine("a", 1, ("slow", 2), ("fast", 2)), machine("b", 1, ("middle", 4))]
            for each in machines:
                each["fabric"] = link("veth", self.megabits)
                each["nic"] = link("veth", self.between)
        else:
            name = f"8 at {self.megabits} Mbit/s"
            machines = [machine(kind, count, (kind, 1)) for kind, count in zip(kinds, (3, 3, 2))]
            for each in machines:
                each["nic"] = link("veth", self.megabits)
        return {"format": "stratoscope-cluster", "version": 1, "name": name, "gpu_types": gpus,
                "machines": machines, "network": {"latency_us": 1}}
