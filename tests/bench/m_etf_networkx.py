"""m-ETF in Python on a networkx graph, for scale: how long the same schedule takes there.

Reads a file of the lines
  devices N
  node TIME_NS GROUP
  edge FROM TO TRANSFER_NS
Nodes of one group, 0 or more, go to one device. All devices are equal, a transfer takes equally
long between each pair, and memory is plenty.
Prints "SECONDS MAKESPAN_NS": of the scheduling alone, without reading.
"""

import heapq
import sys
import time

try:
    import networkx
except ImportError:
    sys.exit("python3-networkx is not installed")


def read(file):
    graph, devices = networkx.DiGraph(), 1
    for line in file:
        kind, *numbers = line.split()
        numbers = [int(number) for number in numbers]
        if kind == "devices":
            devices = numbers[0]
        elif kind == "node":
            graph.add_node(graph.number_of_nodes(), time=numbers[0], group=numbers[1])
        else:
            graph.add_edge(numbers[0], numbers[1], transfer=numbers[2])
    return graph, devices


def b_levels(graph):
    levels = {}
    for node in reversed(range(graph.number_of_nodes())):
        after = (levels[child] + edge["transfer"] for child, edge in graph.adj[node].items())
        levels[node] = graph.nodes[node]["time"] + max(after, default=0)
    return levels


def m_etf(graph, devices):
    levels = b_levels(graph)
    missing = dict(graph.in_degree())
    placed, finish = {}, {}
    idle = [0] * devices
    waiting = [[] for _ in range(devices)]  # (arrival, tie, node)
    there = [[] for _ in range(devices)]  # (tie, node)
    members, group_at = {}, {}
    for node, group in graph.nodes(data="group"):
        if group >= 0:
            members.setdefault(group, []).append(node)

    def is_gone(node, device):
        return node in placed or group_at.get(graph.nodes[node]["group"], device) != device

    def enqueue(node):
        for device in range(devices):
            if is_gone(node, device):
                continue
            arrival = 0
            for parent, edge in graph.pred[node].items():
                transfer = edge["transfer"] if placed[parent] != device else 0
                arrival = max(arrival, finish[parent] + transfer)
            heapq.heappush(waiting[device], (arrival, -levels[node], node))

    def first(device):
        later, now = waiting[device], there[device]
        while later and (later[0][0] <= idle[device] or is_gone(later[0][2], device)):
            _, tie, node = heapq.heappop(later)
            if not is_gone(node, device):
                heapq.heappush(now, (tie, node))
        while now and is_gone(now[0][1], device):
            heapq.heappop(now)
        if now:
            return (idle[device], *now[0], device)
        return (*later[0], device) if later else None

    for node, degree in missing.items():
        if degree == 0:
            enqueue(node)
    for _ in range(graph.number_of_nodes()):
        start, _, node, device = min(choice for choice in map(first, range(devices)) if choice)
        placed[node] = device
        finish[node] = idle[device] = start + graph.nodes[node]["time"]
        group = graph.nodes[node]["group"]
        if group >= 0 and group not in group_at:
            group_at[group] = device
            for member in members[group]:
                if missing[member] == 0 and member not in placed:
                    enqueue(member)
        for child in graph.adj[node]:
            missing[child] -= 1
            if missing[child] == 0:
                enqueue(child)
    return max(finish.values(), default=0)


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        graph, devices = read(file)
    begin = time.perf_counter()
    makespan = m_etf(graph, devices)
    print(f"{time.perf_counter() - begin:.3f} {makespan}")


main()
