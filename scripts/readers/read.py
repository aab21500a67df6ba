"""read.py FORMAT DIR [ARGUMENT...]: reads an export with the program that it is made for; prints what was read, as JSON."""

import glob
import json
import os
import pathlib
import sys

# Nothing here needs the network, and the readers must not ask it.
os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"


def swebench(folder):
    """Rows through the loader and `make_test_spec`; the task tree through the package's own check and loader."""
    from swebench.harness.log_parsers import PARSER_REGISTRY
    from swebench.harness.utils import load_swebench_dataset, make_test_spec
    from swebench.task.checks import check_task_repo
    from swebench.task.repo import load_dockerfiles, load_task_repo, published_tasks

    rows = load_swebench_dataset(glob.glob(folder + "/*.jsonl")[0])
    specs = [make_test_spec(row) for row in rows]
    tasks = {task["instance_id"]: task for task in load_task_repo(folder)}
    published = [task for splits in published_tasks(folder).values() for tasks_ in splits.values() for task in tasks_]
    return {
        "instances": [
            {
                "id": spec.instance_id,
                "fail_to_pass": spec.FAIL_TO_PASS,
                "pass_to_pass": spec.PASS_TO_PASS,
                "parser": spec.log_parser in PARSER_REGISTRY,
                "script": spec.eval_script,
                "task_agrees": all(
                    tasks[row["instance_id"]][name] == row[name]
                    for name in ["patch", "test_patch", "problem_statement", "eval_script", "base_commit", "image"]
                )
                and make_test_spec(tasks[row["instance_id"]]) == spec,
            }
            for row, spec in zip(rows, specs)
        ],
        "problems": [str(problem) for problem in check_task_repo(folder)],
        "published": len(published),
        "dockerfiles": len(load_dockerfiles(folder)),
    }


def grade(folder, logs):
    """The package's own grading of saved logs, LOGS/MODEL/INSTANCE.log; what is resolved, by model and instance."""
    from swebench.harness.grading import get_eval_report
    from swebench.harness.utils import load_swebench_dataset, make_test_spec

    specs = {row["instance_id"]: make_test_spec(row) for row in load_swebench_dataset(glob.glob(folder + "/*.jsonl")[0])}
    found = {}
    for log in sorted(pathlib.Path(logs).glob("*/*.log")):
        prediction = {"instance_id": log.stem, "model_patch": "a patch", "model_name_or_path": log.parent.name}
        report = get_eval_report(specs[log.stem], prediction, str(log), include_tests_status=True)
        found.setdefault(log.parent.name, {})[log.stem] = report[log.stem]["resolved"]
    return found


def grade_run(folder, logs):
    """The package's own grading of an evaluation's folder LOGS: each instance's report beside the one that lies there, and
    whom its summary holds resolved. By model."""
    import contextlib
    import io

    from swebench.harness.constants import RUN_EVALUATION_LOG_DIR
    from swebench.harness.grading import get_eval_report
    from swebench.harness.reporting import make_run_report
    from swebench.harness.utils import load_swebench_dataset, make_test_spec

    rows = load_swebench_dataset(glob.glob(os.path.abspath(folder) + "/*.jsonl")[0])
    specs = {row["instance_id"]: make_test_spec(row) for row in rows}
    found = {}
    os.chdir(logs)
    for model in sorted(RUN_EVALUATION_LOG_DIR.glob("*/*/")):
        told = found.setdefault(model.name, {"theirs": {}, "ours": {}})
        predictions = {}
        for place in sorted(model.iterdir()):
            if place.name not in specs or not (place / "patch.diff").exists():
                continue
            prediction = {"instance_id": place.name, "model_patch": "a patch", "model_name_or_path": model.name}
            predictions[place.name] = prediction
            output = place / "test_output.txt"
            if output.exists():
                told["theirs"].update(get_eval_report(specs[place.name], prediction, str(output), include_tests_status=True))
                told["ours"].update(json.loads((place / "report.json").read_text()))
        with contextlib.redirect_stdout(io.StringIO()):
            summary = make_run_report(predictions, rows, model.parent.name)
        told["summary"] = json.loads(summary.read_text())
    return found


def hf(folder):
    """The rows as `load_dataset` gives them, and their columns' types."""
    import datasets

    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(folder, split="test", cache_dir=os.path.join(folder + ".cache"))
    return {"rows": [dict(row) for row in loaded], "types": {name: str(kind) for name, kind in loaded.features.items()}}


def croissant(folder):
    """What validation says, and the records."""
    import logging

    import mlcroissant

    logging.getLogger("absl").setLevel(logging.ERROR)
    dataset = mlcroissant.Dataset(os.path.join(folder, "croissant.json"))
    issues = dataset.metadata.ctx.issues

    def plain(value):
        if isinstance(value, bytes):
            return value.decode()
        if getattr(value, "ndim", 0) or isinstance(value, list):
            return [plain(item) for item in value]
        return value

    records = [{name.split("/")[-1]: plain(value) for name, value in record.items()} for record in dataset.records("instances")]
    return {"records": json.loads(json.dumps(records, default=str)), "errors": sorted(map(str, issues.errors))}


def harbor(folder):
    """Each task as the runner reads it, and what its linter finds."""
    from harbor.lint import task as lint
    from harbor.lint.models import DEFAULT_RULES
    from harbor.models.task.task import Task

    found = []
    for path in sorted(pathlib.Path(folder).iterdir()):
        task = Task(path)
        findings = [str(finding) for finding in lint.lint_task(path) if finding.rule in DEFAULT_RULES]
        found.append({
            "name": path.name,
            "package": task.config.task.name,
            "instruction": task.instruction,
            "findings": findings,
        })
    return found


def inspect(folder):
    """The samples."""
    from inspect_ai.dataset import json_dataset

    samples = json_dataset(glob.glob(folder + "/*.jsonl")[0])
    return [{"id": sample.id, "input": sample.input, "target": sample.target, "metadata": sample.metadata} for sample in samples]


if __name__ == "__main__":
    reader = {"swebench": swebench, "grade": grade, "grade_run": grade_run, "hf": hf, "croissant": croissant, "harbor": harbor, "inspect": inspect}
    json.dump(reader[sys.argv[1]](*sys.argv[2:]), sys.stdout)
