//! What was rendered and comes back from an API server differs in nothing from the plan, whatever the server adds. And with
//! the overlays that `diff` prints, a hub comes to what runs, but for the differences that it prints as comments.

use std::fmt::Write as _;
use std::path::Path;

use kube_json::{Value, json};
use spokewright::diagnostic::{Findings, Human};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded, Rendered, load_works_and_sets};
use spokewright::render::Plan;
use spokewright::report::WorksAndSets;
use spokewright::report::diff::{DiffReport, Side, Titles, compare, overlays};

use super::spokes::{Input, load};

/// How often each rule was put to the test.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) works: usize,
    pub(crate) overlaid: usize,
    pub(crate) kept: usize,
}

/// A hub and its plan; `None` if it has errors.
fn rendered(input: &Input) -> Option<(Loaded, Rendered)> {
    let (loaded, mut findings) = (load(&input.texts, input.replica_sets), Findings::new());
    let rendered = Analysis::new(&loaded, &mut findings).render(EmptyResult::Allowed, &mut findings);
    loaded.finish(&mut findings);
    (!findings.has_errors()).then_some((loaded, rendered))
}

/// Works and sets as `kubectl get` prints them, the last one first.
fn exported(plan: &Plan) -> String {
    let sets = plan.replica_sets.iter().flatten();
    let mut texts: Vec<String> = sets.map(|set| set.text.clone()).collect();
    for (cluster, works) in plan.clusters.iter().filter(|_| plan.replica_sets.is_none()) {
        texts.extend(works.iter().map(|id| {
            let mut text = Vec::new();
            plan.works.get(*id).text.write(cluster, &mut text);
            String::from_utf8(text).expect("a text")
        }));
    }
    let limits = kube_yaml::Limits::default();
    let items = texts.iter().rev();
    let items = items.map(|text| stored(kube_yaml::read_document(text, &limits).expect("YAML")));
    json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Value>()}).to_string()
}

/// A work as a server keeps it (docs/systems/ocm-work.md#manifestwork).
fn stored(mut work: Value) -> Value {
    let metadata = &mut work["metadata"];
    metadata["uid"] = json!("c3e93a99");
    metadata["generation"] = json!(3);
    metadata["resourceVersion"] = json!("15212");
    metadata["creationTimestamp"] = json!("2026-11-22T00:31:11Z");
    metadata["finalizers"] = json!(["cluster.open-cluster-management.io/manifest-work-cleanup"]);
    metadata["managedFields"] = json!([{"manager": "argocd-controller", "operation": "Apply"}]);
    if !metadata.get("annotations").is_some_and(Value::is_object) {
        metadata["annotations"] = json!({});
    }
    metadata["annotations"]["argocd.argoproj.io/tracking-id"] = json!("fleet:work");
    work["status"] = json!({"conditions": [{"type": "Applied", "status": "True"}]});
    let is_set = work.pointer("/spec/manifestWorkTemplate").is_some();
    let references = work
        .pointer_mut("/spec/placementRefs")
        .and_then(Value::as_array_mut);
    for reference in references.into_iter().flatten() {
        if reference.get("rolloutStrategy").is_none() {
            reference["rolloutStrategy"] = json!({"type": "All", "all": {"progressDeadline": "None"}});
        }
    }
    let spec = if is_set {
        &mut work["spec"]["manifestWorkTemplate"]
    } else {
        &mut work["spec"]
    };
    if spec.get("deleteOption").is_none() {
        spec["deleteOption"] = json!({"propagationPolicy": "Foreground"});
    }
    let configs = spec.pointer_mut("/manifestConfigs").and_then(Value::as_array_mut);
    for config in configs.into_iter().flatten() {
        config["feedbackScrapeType"] = json!("Poll");
        if config.get("updateStrategy").is_none() {
            config["updateStrategy"] = json!({"type": "Update"});
        }
        if let Some(apply) = config.pointer_mut("/updateStrategy/serverSideApply") {
            apply["fieldManager"] = json!("work-agent");
        }
        let rules = config.pointer_mut("/feedbackRules").and_then(Value::as_array_mut);
        for rule in rules.into_iter().flatten() {
            if let Some(paths) = rule.pointer_mut("/jsonPaths").and_then(Value::as_array_mut) {
                paths.reverse();
            }
        }
    }
    let manifests = spec
        .pointer_mut("/workload/manifests")
        .and_then(Value::as_array_mut);
    for manifest in manifests.into_iter().flatten() {
        if let Some(metadata) = manifest.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.retain(|_, value| {
                !matches!(value, Value::Null) && *value != json!({}) && *value != json!([])
            });
        }
    }
    work
}

fn read(loaded: &mut Loaded, exported: &str) -> WorksAndSets {
    let mut findings = Findings::new();
    let works = load_works_and_sets(
        loaded,
        Path::new("-"),
        Some(&mut exported.as_bytes()),
        &mut findings,
        true,
    );
    assert!(
        findings.is_empty(),
        "{}",
        Human::default().render(&findings, &loaded.sources)
    );
    works
}

/// What differs, in a report whose changes can be printed.
fn report(works: &WorksAndSets, loaded: &Loaded, plan: &Plan) -> DiffReport {
    let planned = Side::of_plan(plan);
    let comparison = compare(&Side::of_hub(works, &loaded.hub, &planned, |_| true), &planned).expect("YAML");
    let titles = Titles {
        old: "hub".to_owned(),
        new: "plan".to_owned(),
        command: String::new(),
        fleet: None,
    };
    DiffReport {
        titles,
        comparison,
        ..DiffReport::default()
    }
}

fn differences(report: &DiffReport) -> String {
    let mut text = report.headline();
    for change in &report.comparison.changes {
        let _ = write!(text, "\n{change:#?}");
    }
    text
}

/// A hub, compared with its own works.
pub(crate) fn judge(input: &Input) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let Some((mut loaded, rendered)) = rendered(input) else {
        return Ok(counts);
    };
    let works = read(&mut loaded, &exported(&rendered.plan));
    let report = report(&works, &loaded, &rendered.plan);
    if !report.is_empty() || report.comparison.foreign != Some(0) || !report.comparison.rows.is_empty() {
        return Err(differences(&report));
    }
    counts.works = rendered.plan.work_count();
    Ok(counts)
}

/// A hub without overlays, compared with the works that it has with them.
pub(crate) fn judge_overlays(plain: &Input, overlaid: &Input) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let (Some((_, with)), Some((mut loaded, without))) = (rendered(overlaid), rendered(plain)) else {
        return Ok(counts);
    };
    let exported = exported(&with.plan);
    let works = read(&mut loaded, &exported);
    let differing = report(&works, &loaded, &without.plan);
    if differing.is_empty() {
        return Ok(counts);
    }
    counts.overlaid = 1;
    let printed = overlays(&differing, &loaded.hub);
    let mut kept = plain.clone();
    kept.texts
        .insert("hub/kept.yaml".to_owned(), format!("# Kept.\n{printed}"));
    if !printed.contains("kind: ClusterOverlay") {
        return Ok(counts);
    }
    let Some((mut loaded, rendered)) = self::rendered(&kept) else {
        return Err(format!("what was printed is refused:\n{printed}"));
    };
    let works = read(&mut loaded, &exported);
    let remaining = report(&works, &loaded, &rendered.plan);
    // Annotations of works follow from their contents: a comment about them may have settled itself.
    let again = overlays(&remaining, &loaded.hub);
    let is_new = |line: &str| !line.starts_with('#') || !printed.lines().any(|known| known == line);
    if again.lines().any(is_new) {
        return Err(format!(
            "{printed}\nbut then\n{again}\n{}",
            differences(&remaining)
        ));
    }
    counts.kept = 1;
    Ok(counts)
}
