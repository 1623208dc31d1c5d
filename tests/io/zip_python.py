"""Python's zipfile as the oracle: its archives are read as it reads them, ours pass its test and Info-ZIP's."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib

PROBE = sys.argv[1]
RNG = random.Random(3)


def members():
    out = {"empty": b"", "text.txt": b"hello\n", "folder/": b"", "folder/é.bin": RNG.randbytes(1000)}
    out["deep/" * 20 + "x"] = b"z" * 100000
    out["runs"] = bytes(RNG.choice([0, 1, 255]) for _ in range(70000))
    return out


def write(path, method, content, force_zip64=False, comment=b""):
    with zipfile.ZipFile(path, "w", method) as z:
        z.comment = comment
        for name, data in content.items():
            if force_zip64 and not name.endswith("/"):
                with z.open(name, "w", force_zip64=True) as f:
                    f.write(data)
            else:
                z.writestr(name, data)


def listing(path):
    out = subprocess.run([PROBE, "unzip", path], capture_output=True)
    assert out.returncode == 0, out.stdout
    return out.stdout.decode().splitlines()


def check(path):
    with zipfile.ZipFile(path) as z:
        expected = [f"{i.compress_type} {i.file_size} {zlib.crc32(z.read(i)):08x} {i.filename}" for i in z.infolist()]
    assert listing(path) == expected, (listing(path), expected)


def check_written(path, content):
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        assert z.read("new/text") == b"hello" and z.read("new/value") == b"\x2a" * 70000 and z.read("new/empty") == b""
        for name, data in content.items():
            assert z.read(name) == data, name
        for i in z.infolist():
            with open(path, "rb") as f:
                f.seek(i.header_offset + 26)
                lengths = f.read(4)
            data = i.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
            assert data % 64 == 0, (i.filename, data)
    if shutil.which("unzip"):
        # 1 is a warning: it guesses the wrong character set for names where "made by" is 0, as torch writes it.
        assert subprocess.run(["unzip", "-tqq", path], stdout=subprocess.DEVNULL).returncode in (0, 1)


with tempfile.TemporaryDirectory() as folder:
    content = members()
    cases = [(m, wide, comment) for m in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for wide in (False, True)
             for comment in (b"", b"a comment " * 5000)]
    for k, (method, wide, comment) in enumerate(cases):
        source, target = (os.path.join(folder, f"{k}{suffix}") for suffix in (".zip", ".out"))
        write(source, method, content, wide, comment)
        check(source)
        subprocess.run([PROBE, "rezip", source, target], check=True)
        check(target)
        check_written(target, content)
    # More members than 16 bits count.
    many = os.path.join(folder, "many.zip")
    write(many, zipfile.ZIP_STORED, {f"m{i}": b"" for i in range(66000)})
    assert len(listing(many)) == 66000
    # Sizes and offsets beyond 32 bits. The file is a hole but for its records.
    large = os.path.join(folder, "large.zip")
    subprocess.run([PROBE, "large", large], check=True)
    with zipfile.ZipFile(large) as z:
        info = {i.filename: i for i in z.infolist()}
        assert z.read("a/first") == b"first" and z.read("a/last") == b"last"
        assert info["a/large"].file_size == 5 << 30 and info["a/last"].header_offset > 5 << 30
    lines = subprocess.run([PROBE, "list", large], capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[1:] for line in lines] == [["5", "a/first"], [str(5 << 30), "a/large"], ["4", "a/last"]], lines
    with open(large, "rb") as f:
        f.seek(int(lines[2].split()[0]))
        assert f.read(4) == b"last" and int(lines[2].split()[0]) % 64 == 0
        # The data descriptor of the large member has 64-bit sizes.
        f.seek(int(lines[1].split()[0]) + (5 << 30))
        assert f.read(24)[8:] == (5 << 30).to_bytes(8, "little") * 2
