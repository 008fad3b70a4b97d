//! What is said of a removal is what is lost by it: for each policy of a generated hub, the hub without it.
//!
//! Owns: which of what holds before is lost. Flows in: an input. Flows out: what is wrong. Must not know: how hubs are
//! made, how two sides are compared.

use std::collections::{BTreeMap, BTreeSet};

use kube_json::Value;
use spokewright::diagnostic::{Code, Findings};
use spokewright::pipeline::{Analysis, EmptyResult, Loaded};
use spokewright::report::diff::{EffectiveChange, EffectiveSettings};
use spokewright::report::{PolicyReport, PolicyView, explain};

use super::spokes::{Input, load};

/// How often each rule was put to the test.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) removals: usize,
    pub(crate) of_no_effect: usize,
    pub(crate) lost: usize,
}

/// What is wrong with what is said of removing each policy; nothing of a hub with errors.
pub(crate) fn judge(input: &Input) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let loaded = load(&input.texts, input.replica_sets);
    let found = findings_of(&loaded);
    if found.has_errors() {
        return Ok(counts);
    }
    let analysis = Analysis::new(&loaded, &mut Findings::new());
    let (_, spokes) = analysis.received(None);
    let view = analysis.evaluate(&spokes);
    let before = settings(&view);
    if !EffectiveSettings::changes(&before, &settings(&view)).is_empty() {
        return Err("a hub differs from itself".to_owned());
    }
    let held = held(&view);
    for object in &loaded.hub.objects {
        let identity = object.identity();
        if !view.is_policy(&identity) {
            continue;
        }
        let mut rest = load(&input.texts, input.replica_sets);
        rest.remove(&identity);
        let of_rest = Analysis::new(&rest, &mut Findings::new());
        let (_, spokes_of_rest) = of_rest.received(None);
        let view_of_rest = of_rest.evaluate(&spokes_of_rest);
        let changes = EffectiveSettings::changes(&before, &settings(&view_of_rest));
        let wrong = |rule: &str, what: String| {
            let changes: Vec<String> = changes.iter().map(|change| format!("{change:#?}")).collect();
            format!("without {identity}: {rule}: {what}\n{}", changes.join("\n"))
        };
        counts.removals += 1;

        let without = analysis.without(object);
        let (_, spokes_without) = without.received(None);
        let view_without = without.evaluate(&spokes_without);
        let explanation = explain(
            &view,
            Some(&view_without),
            &identity,
            None,
            &[],
            loaded.overlays(),
            &loaded.sources,
        );
        let policy = explanation.policy.expect("a policy");
        let said: BTreeSet<_> = policy
            .if_deleted
            .iter()
            .flat_map(|part| {
                part.settings.iter().flat_map(move |change| {
                    let values =
                        [&change.old, &change.new].map(|value| value.as_ref().map(ToString::to_string));
                    let places = part
                        .paths
                        .iter()
                        .flat_map(|path| part.clusters.iter().map(move |cluster| (path, cluster)));
                    places.map(move |(path, cluster)| {
                        (
                            path.clone(),
                            cluster.clone(),
                            change.setting.clone(),
                            values.clone(),
                        )
                    })
                })
            })
            .collect();
        let differs: BTreeSet<_> = changes
            .iter()
            .flat_map(|change| {
                change.settings.iter().flat_map(move |setting| {
                    let values =
                        [&setting.old, &setting.new].map(|value| value.as_ref().map(ToString::to_string));
                    let clusters = change.clusters.iter();
                    clusters.map(move |cluster| {
                        (
                            change.path.clone(),
                            cluster.clone(),
                            setting.setting.clone(),
                            values.clone(),
                        )
                    })
                })
            })
            .collect();
        if let Some(odd) = said.symmetric_difference(&differs).next() {
            return Err(wrong(
                "`ifDeleted` is the diff of the hub without it",
                format!("{odd:?}"),
            ));
        }

        // What is undecided without it is not shipped.
        if findings_of(&rest).has_errors() {
            continue;
        }
        let locator = identity.locator();
        let is_source = held.values().any(|held| held.sources.contains(&locator));
        // Of policies on one target one copy is made, which may be what is overridden.
        let shares_its_target = found.iter().any(|finding| {
            finding.code == Code::POLICY_SAME_TARGET && finding.message.contains(&identity.to_string())
        });
        if !is_source && !shares_its_target && policy.overrides.is_empty() {
            counts.of_no_effect += 1;
            // Atomic defaults give way to any settings below them, even to such as are overridden; their status names
            // who holds there instead, as Kuadrant's does. Without those settings the defaults come back.
            let only_comes_back = |change: &EffectiveChange| {
                let mut settings = change.settings.iter();
                settings.all(|setting| setting.old.is_none() && setting.new_from.is_some())
            };
            if !changes.iter().all(only_comes_back) {
                return Err(wrong(
                    "what has no effect anywhere changes nothing",
                    String::new(),
                ));
            }
        }

        let remains = self::held(&view_of_rest);
        for (place, had) in &held {
            // Where paths depend on policies, one that is gone has become others.
            let is_fixed = place.group == "kuadrant.io";
            let has = remains.get(place);
            if has.is_none() && !is_fixed {
                continue;
            }
            // Where policies add up, a setting is called after its policy, which may have the place for itself now.
            let is_kept = |setting: &&String| {
                has.is_some_and(|has| has.settings.contains(*setting) || has.sources.contains(*setting))
            };
            let lost = had.settings.iter().filter(|setting| !is_kept(setting));
            for setting in lost {
                counts.lost += 1;
                if !changes.iter().any(|change| says(change, place, setting)) {
                    return Err(wrong("what is lost is said", format!("{setting} on {place:?}")));
                }
            }
        }
    }
    Ok(counts)
}

/// Whether a change says that a setting is lost on a path, or on all that it is one of.
fn says(change: &EffectiveChange, place: &Held, setting: &str) -> bool {
    // A path without a listener stands for those of all listeners, one without a rule for those of all rules.
    let section_of = |node: &String| node.split_once('#')?.0.split(':').next().map(str::to_owned);
    let sections: BTreeSet<String> = place.path.iter().filter_map(section_of).collect();
    let is_named = |node: &&String| section_of(node).is_none_or(|owner| sections.contains(&owner));
    let on_path = |some: &[String], of: &[String]| some.iter().filter(is_named).all(|node| of.contains(node));
    // A rule has a name of its own, and its fields are below it.
    let is_in = |lost: &String| {
        let rest = setting.strip_prefix(lost.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || format!("{setting}/").contains(&format!("/{}/", lost.replace('#', "/")))
    };
    // Where the kind replaces a setting as a whole, its parts go with it.
    let whole = || change.settings.iter().any(|changed| is_in(&changed.setting));
    change.kind == place.kind
        && change.group == place.group
        && change.clusters.contains(&place.cluster)
        && (change.lost_settings.iter().any(is_in) || whole())
        && (on_path(&change.path, &place.path) || on_path(&place.path, &change.path))
}

/// Where something holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    kind: String,
    group: String,
    cluster: String,
    path: Vec<String>,
}

/// What holds there.
#[derive(Debug, Default)]
struct Settings {
    settings: BTreeSet<String>,
    sources: BTreeSet<String>,
}

/// What holds on each path of each cluster, as `policies` says it.
fn held(view: &PolicyView<'_>) -> BTreeMap<Held, Settings> {
    let report = kube_json::to_value(PolicyReport::for_text(view)).expect("JSON");
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut held: BTreeMap<Held, Settings> = BTreeMap::new();
    for entry in report["effective"].as_array().into_iter().flatten() {
        let keys = ["sources", "ruleSources"].map(|field| entry[field].as_object());
        let keys = keys.into_iter().flatten().flat_map(|settings| settings.keys());
        let settings: BTreeSet<String> = keys.map(ToString::to_string).collect();
        let path = strings(&entry["path"]);
        let mut clusters = strings(&entry["clusters"]);
        if clusters.is_empty() {
            let gateway = path.get(1).and_then(|gateway| gateway.split_once(':'));
            clusters = gateway.map_or_else(Vec::new, |(_, gateway)| view.clusters_of(gateway).to_vec());
        }
        for cluster in clusters {
            let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
            let place = Held {
                kind: text("kind"),
                group: text("group"),
                cluster,
                path: path.clone(),
            };
            let there = held.entry(place).or_default();
            there.settings.extend(settings.iter().cloned());
            there.sources.extend(strings(&entry["sourcePolicies"]));
        }
    }
    held
}

fn settings(view: &PolicyView<'_>) -> EffectiveSettings {
    EffectiveSettings::new(view, |_| true).expect("a small hub")
}

fn findings_of(loaded: &Loaded) -> Findings {
    let mut findings = Findings::new();
    let analysis = Analysis::new(loaded, &mut findings);
    analysis.render(EmptyResult::Allowed, &mut findings);
    loaded.finish(&mut findings);
    findings
}
