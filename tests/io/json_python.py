"""Python's json as the oracle: documents and mutations are accepted alike, numbers read and written alike."""
import json
import random
import struct
import subprocess
import sys

PROBE = sys.argv[1]
RNG = random.Random(7)


def run(mode, lines):
    text = "".join(line + "\n" for line in lines)
    out = subprocess.run([PROBE, mode], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(out) == len(lines), (len(out), len(lines))
    return out


def value(depth):
    kind = RNG.randrange(7 if depth else 5)
    if kind < 3:
        return RNG.choice([None, True, False, 0, -1, 2**63 - 1, -2**63, 10**30, 0.1, -1e-5, 1e22, RNG.random()])
    if kind < 5:
        return "".join(RNG.choice(["a", "é", "€", "\U0001f600", "\n", "\"", "\\", "\0", "\x7f", "text"]) for _ in range(RNG.randrange(6)))
    if kind == 5:
        return [value(depth - 1) for _ in range(RNG.randrange(4))]
    return {str(RNG.random()): value(depth - 1) for _ in range(RNG.randrange(4))}


def refuse(name):
    raise ValueError(name)


def accepted(data):
    try:
        json.loads(data.decode("utf-8"), parse_constant=refuse)
        return True
    except (ValueError, RecursionError):
        return False


def mutate(data):
    data = bytearray(data)
    for _ in range(RNG.randrange(1, 3)):
        at = RNG.randrange(len(data) + 1)
        change = RNG.randrange(3)
        if change == 0 and at < len(data):
            data[at] = RNG.choice(b'{}[],:"\\ 0-.eE\ntfnu1\x80\xff\x00')
        elif change == 1:
            data[at:at + RNG.randrange(3)] = b""
        else:
            data[at:at] = bytes([RNG.choice(b'{}[],:"\\ 0-.eE\ntfnu1\x80')])
    return bytes(data)


def check_documents():
    documents = []
    for _ in range(3000):
        text = json.dumps(value(4), ensure_ascii=RNG.random() < 0.5, indent=RNG.choice([None, None, 1])).encode()
        documents += [text] + [mutate(text) for _ in range(6)]
    answers = run("json", [d.hex() for d in documents])
    good = 0
    for d, answer in zip(documents, answers):
        expected = accepted(d)
        good += expected
        assert (answer == "1") == expected, (d, answer)
    assert len(documents) / 7 < good < len(documents) * 0.6, good


def check_numbers():
    numbers = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e15, 1e16, 123456789012345680.0, 0.1, 1 / 3]
    while len(numbers) < 20000:
        v = struct.unpack("<d", RNG.getrandbits(64).to_bytes(8, "little"))[0]
        if v == v and abs(v) != float("inf"):
            numbers.append(v)
    numbers += [RNG.uniform(-1e6, 1e6) for _ in range(5000)] + [round(RNG.uniform(-100, 100), 3) for _ in range(5000)]
    texts = [repr(v) for v in numbers] + ["%.25e" % v for v in numbers] + ["%.40f" % RNG.random() for _ in range(1000)]
    for text, answer in zip(texts, run("double", texts)):
        bits, spelled = answer.split()
        v = float(text)
        assert bits == struct.pack(">d", v).hex(), (text, answer)
        assert spelled == repr(v), (text, answer)
    # A power of two has two shortest spellings now and then: the value counts, and that no digit too many is written.
    powers = [2.0**k for k in range(-1074, 1024)]
    for v, answer in zip(powers, run("double", [repr(v) for v in powers])):
        assert float(answer.split()[1]) == v and len(answer.split()[1]) <= len(repr(v)) + 1, (v, answer)


check_documents()
check_numbers()
