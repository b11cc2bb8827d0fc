"""Folders of jobs, as launch stages them and a rank's worker reads them. One is kept as an archive of its files; damaged is one
of them, whose size and digest are written down anew, so that more than these is looked at."""

import json
import struct
import subprocess

import archives
import containers
import damage

HEADINGS = ("job.json", "measure.json")
MAGIC = b"STRATORP"  # of a rank's program
# Not what ranks write for each other while a job runs.
LEFT_OUT = ("log-", "result.json", "tasks.bin", "meeting.json", "failure.json", "measured.json", "profile.json")


def packed(folder):
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(LEFT_OUT)]
    return archives.zipped([(str(path.relative_to(folder)), path.read_bytes()) for path in found])


def place(content, folder):
    for name, each in archives.entries_of(content):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(each)
        if name == "secret":
            file.chmod(0o600)


def launched(cli, plan, folder, *more):
    """A job that has run to its end."""
    subprocess.run([cli, "launch", "--plan", str(plan), "--launcher", "local", "--steps", "2", "--timeout", "5s", "--job",
                    str(folder), *more], check=True, capture_output=True)


def measured(cli, cluster, graph, folder):
    """A job that measures has run to its end."""
    subprocess.run([cli, "profile", "--cluster", str(cluster), "--graph", graph, "--batches", "8", "--repetitions", "1", "--launcher", "local",
                    "--budget", "1s", "--timeout", "5s", "--job", str(folder), "-o", str(folder) + ".profile"], check=True, capture_output=True)


def replaced(value, old, new):
    """Every text and number of a document that is `old`."""
    if isinstance(value, damage.Members):
        return damage.Members((key, replaced(each, old, new)) for key, each in value)
    if isinstance(value, list):
        return [replaced(each, old, new) for each in value]
    return new if type(value) is type(old) and value == old else value


def of_programs(root, version):
    """The digest over those of the ranks' programs (core/program/rank)."""
    digest = lambda text: bytes.fromhex(text[:16])[::-1] + bytes.fromhex(text[16:])[::-1]
    job = dict(root)
    ranks = [dict(dict(rank)["program"])["digest"] for rank in job["ranks"]]
    name = b"rank programs"
    return containers.digest_text(struct.pack("<Q", len(name)) + name + version + digest(dict(job["graph"])["digest"])
                                  + struct.pack("<Q", len(ranks)) + b"".join(map(digest, ranks)))


def forged(heading, old, new):
    """The heading of a job one of whose files has changed."""
    root = damage.parsed(heading.decode())
    root = replaced(root, containers.digest_text(old), containers.digest_text(new))
    root = replaced(root, len(old), len(new))
    if old.startswith(MAGIC):
        before = dict(root)["programs"]
        root = replaced(root, before, of_programs(root, old[len(MAGIC) : len(MAGIC) + 4]))
    return damage.written(root).encode()


def of_file(random, name, content):
    if name.endswith(".npy"):
        return damage.of_npy(random, content)
    if name.endswith(".json"):
        return damage.of_json(random, content)
    if content.startswith(containers.MAGIC):
        return containers.of_container(random, content)
    if content.startswith(MAGIC) and containers.XXH and random.random() < 0.9:
        return ranks_program(random, content)
    return damage.of_bytes(random, content)


def ranks_program(random, content):
    """A digest of the rest stands behind its magic and version."""
    rest = damage.of_bytes(random, content[28:])
    return content[:12] + containers.digest(rest) + rest


def of_job(random, content):
    entries = dict(archives.entries_of(content))
    names = [name for name in entries if name != "secret" or random.random() < 0.05]
    kind = random.choice(sorted({name.rpartition(".")[2] for name in names}))  # there are many arrays
    heading = next(name for name in HEADINGS if name in names)
    name = heading if random.random() < 0.25 else random.choice([name for name in names if name.endswith(kind)])
    before = entries[name]
    after = entries[name] = of_file(random, name, before)
    if random.random() < 0.05:
        del entries[name]
    elif name != heading and containers.XXH and random.random() < 0.95:
        entries[heading] = forged(entries[heading], before, after)
    return archives.zipped(entries.items())


def failure(folder):
    """What a rank says went wrong: to its job, and not on its error output."""
    try:
        return b"\n" + json.loads((folder / "failure.json").read_bytes())["text"].encode()
    except (OSError, ValueError, KeyError):
        return b""
