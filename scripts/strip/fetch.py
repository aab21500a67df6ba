"""fetch.py PYLOCK FOLDER: downloads and unpacks the source distributions that a lock names, each checked by its hash."""

import hashlib
import os
import sys
import tarfile
import tomllib
import urllib.request
import zipfile


def main(lock, folder):
    os.makedirs(folder, exist_ok=True)
    with open(lock, "rb") as file:
        packages = tomllib.load(file)["packages"]
    for package in packages:
        sdist = package["sdist"]
        name = sdist["url"].rsplit("/", 1)[1]
        archive = os.path.join(folder, name)
        if os.path.exists(archive):
            continue
        with urllib.request.urlopen(sdist["url"]) as answer:
            content = answer.read()
        if hashlib.sha256(content).hexdigest() != sdist["hashes"]["sha256"]:
            sys.exit("fetch.py: %s has another hash than its lock says" % name)
        with open(archive + ".part", "wb") as file:
            file.write(content)
        if name.endswith(".zip"):
            zipfile.ZipFile(archive + ".part").extractall(os.path.join(folder, "src"))
        else:
            tarfile.open(archive + ".part").extractall(os.path.join(folder, "src"), filter="data")
        os.rename(archive + ".part", archive)


main(*sys.argv[1:])
