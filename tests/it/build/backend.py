"""A build tool of a few lines, carried by the trees that are built with it."""

import os
import zipfile


def _settings():
    values = {}
    with open("package.txt") as lines:
        for line in lines:
            key, _, value = line.strip().partition("=")
            values.setdefault(key, []).append(value)
    return values


def _write(folder, files):
    settings = _settings()
    name, version = settings["name"][0], settings["version"][0]
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {line}\n" for line in settings.get("requires", []))
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    scripts = settings.get("script", [])
    if scripts:
        files[f"{info}/entry_points.txt"] = "[console_scripts]\n" + "\n".join(scripts) + "\n"
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def build_wheel(folder, config_settings=None, metadata_directory=None):
    with open("module.py") as source:
        return _write(folder, {f"{_settings()['name'][0]}.py": source.read()})


def build_editable(folder, config_settings=None, metadata_directory=None):
    settings = _settings()
    for path in settings.get("leaves", []):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w") as left:
            left.write("left by the build\n")
    return _write(folder, {f"{settings['name'][0]}.pth": os.path.abspath("src") + "\n"})
