"""The files under `deploy/` are what Prometheus, Grafana and Kubernetes take, and name what the auditor has."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from site_pages import parse

from cdc_contracts.spark_checks.streams.stream_metrics import PREFIX, StreamMetrics

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
DASHBOARD = json.loads((DEPLOY / "dashboard.json").read_text(encoding="utf-8"))
RULES = [
    rule
    for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
KUSTOMIZED = sorted(path.parent for path in DEPLOY.glob("kubernetes/*/kustomization.yaml"))
MANIFESTS = [
    (path.name, document)
    for path in sorted(DEPLOY.glob("kubernetes/*/*.yaml"))
    if path.name != "kustomization.yaml"
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]


def expressions():
    """Every query of the rules and the dashboard; a variable of Grafana has a value that it may have there."""
    reported = [rule["expr"] for rule in RULES]
    reported += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [text.replace("$__rate_interval", "5m").replace("$job", ".*") for text in reported]


def exposed():
    """The names of all samples that a stream publishes."""
    names = set()
    for line in StreamMetrics().text().splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            names.add(name if kind != "counter" or name.endswith("_total") else f"{name}_total")
    # Until the first batch is done, there is no time of the last one.
    return names | {f"{PREFIX}_last_batch_timestamp_seconds"}


def test_every_metric_of_rules_and_dashboard_is_one_that_the_auditor_exposes():
    texts = [*expressions(), *(one["query"] for one in DASHBOARD["templating"]["list"])]
    named = {name for text in texts for name in re.findall(rf"{PREFIX}_\w+", text)}
    assert len(named) >= 10
    assert named - exposed() == set()


def test_every_query_is_promql():
    promql = pytest.importorskip("promql_parser")
    for text in expressions():
        promql.parse(text)


def test_prometheus_takes_the_rules_and_they_fire_when_they_should(tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    for path in (DEPLOY / "alerts.yaml", ROOT / "tests" / "alerts_test.yaml"):
        shutil.copy(path, tmp_path)
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        done = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_model_of_grafana_takes_the_dashboard_and_keeps_every_key_of_it():
    models = pytest.importorskip("grafana_foundation_sdk.models.dashboard")
    taken = json.loads(json.dumps(models.Dashboard.from_json(DASHBOARD).to_json(), default=lambda one: one.to_json()))

    def missing(given, kept, path="$"):
        if isinstance(given, dict):
            for key, value in given.items():
                if key not in kept:
                    yield f"{path}.{key}"
                else:
                    yield from missing(value, kept[key], f"{path}.{key}")
        elif isinstance(given, list):
            for number, value in enumerate(given):
                yield from missing(value, kept[number], f"{path}[{number}]")
        elif given != kept:
            yield f"{path}: {given!r} is {kept!r}"

    assert list(missing(DASHBOARD, taken)) == []


def test_panels_do_not_overlap_and_have_ids_of_their_own():
    places = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize(("name", "manifest"), MANIFESTS, ids=[f"{name} {one['kind']}" for name, one in MANIFESTS])
def test_kubernetes_takes_the_manifests(name, manifest):
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(manifest, validate.latest_version(), strict=True)


def pod_of(manifest):
    """The pod of a manifest that runs one, else nothing."""
    spec = manifest.get("spec", {})
    spec = spec["jobTemplate"]["spec"] if manifest["kind"] == "CronJob" else spec
    return spec["template"]["spec"] if "template" in spec else None


@pytest.mark.parametrize(("folder", "kind"), [("stream", "Deployment"), ("job", "CronJob")])
def test_what_a_manifest_runs_is_a_call_of_the_command_line(folder, kind):
    (manifest,) = (one for _, one in MANIFESTS if one["kind"] == kind)
    pod = pod_of(manifest)
    (container,) = pod["containers"]
    assert container["command"] == ["cdc-contracts"]
    (made,) = yaml.safe_load((DEPLOY / "kubernetes" / folder / "kustomization.yaml").read_text())["configMapGenerator"]
    values = dict(literal.split("=", 1) for literal in made["literals"])
    parse(tuple(re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], word) for word in container["args"]))
    mounted = {one["name"] for one in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}
    assert ("--allow-empty" in container["args"]) == (kind == "CronJob")  # a quiet topic fails no job
    assert {"requests", "limits"} == set(container["resources"])
    assert ("readinessProbe" in container, "livenessProbe" in container) == (2 * (kind == "Deployment",))


@pytest.mark.parametrize("folder", KUSTOMIZED, ids=lambda path: path.name)
def test_kustomize_builds_what_kubernetes_takes_and_every_reference_is_to_something_that_is_there(folder):
    kubectl, validate = shutil.which("kubectl"), pytest.importorskip("kubernetes_validate")
    if kubectl is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    for manifest in built:
        validate.validate(manifest, validate.latest_version(), strict=True)
    names = {(one["kind"], one["metadata"]["name"]) for one in built}
    (pod,) = filter(None, map(pod_of, built))
    (container,) = pod["containers"]
    referred = {("ConfigMap", one["configMapRef"]["name"]) for one in container["envFrom"]}
    referred |= {
        ("PersistentVolumeClaim", one["persistentVolumeClaim"]["claimName"])
        for one in pod["volumes"]
        if "persistentVolumeClaim" in one
    }
    assert len(referred) == 2
    assert referred <= names
    given = {one["name"] for one in container.get("env", ()) if "value" in one}
    assert not [name for name in given if "TOKEN" in name or "PASSWORD" in name or "WEBHOOK" in name]
