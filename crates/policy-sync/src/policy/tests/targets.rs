//! Which targets a policy may name, and the source of that rule: the definition in the input, the catalog, a
//! controller, documentation.

use crate::hub::Hub;
use crate::policy::{Options, Profiles, learn_targets};
use crate::tests::{SMALL, Seen};

/// A policy `infra/p` of a kind.
fn policy(api_version: &str, kind: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: p, namespace: infra}}\nspec: {spec}\n"
    )
}

/// What is reported about a hub, with its definitions.
fn said(hub: &Hub) -> Vec<String> {
    let mut profiles = Profiles::built_in();
    learn_targets(&mut profiles, hub, &mut crate::diagnostic::Findings::new());
    let options = Options {
        profiles: Some(&profiles),
        ..Options::default()
    };
    let seen = Seen::of(hub, &options);
    let about_targets = seen
        .findings
        .iter()
        .filter(|finding| finding.code.group() == "policy");
    about_targets
        .map(|finding| {
            let help = finding.help.as_deref().unwrap_or_default();
            let notes = finding.notes.join("; ");
            format!("{}: {} [{help}] {notes}", finding.code.name(), finding.message)
        })
        .collect()
}

const EG: &str = "gateway.envoyproxy.io/v1alpha1";
fn target(kind: &str, name: &str) -> String {
    format!("{{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}")
}

#[test]
fn the_page_about_other_products_lists_the_targets_that_their_kinds_take() {
    let page = include_str!("../../../../../docs/systems/other-policies.md");
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .collect();
    let profiles = Profiles::built_in();
    let mut checked = 0;
    for kind in profiles.kinds() {
        if !["gateway.nginx.org", "gateway.kgateway.dev", "networking.gke.io"].contains(&kind.group.as_str())
        {
            continue;
        }
        let versions: Vec<&str> = crate::api::catalog::find(&kind.group, &kind.kind)
            .map(|entry| entry.served_versions().collect())
            .unwrap_or_default();
        let profile = profiles
            .find(kind, &versions.into_iter().collect(), None)
            .expect("built in");
        let names = |first: &str| first.split([',', ' ']).any(|name| name == kind.kind);
        let (_, row) = rows
            .iter()
            .find(|(first, _)| names(first))
            .unwrap_or_else(|| panic!("{kind}"));
        for target in profile.targeting.kind_names() {
            let listed = row.contains(target.trim_start_matches('X')) || row.contains("the same");
            assert!(listed, "{kind}: {target} is not in its row");
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked}");
}

/// A definition of SecurityPolicy whose rule takes these kinds.
fn definition(kinds: &str, required: &str) -> String {
    let text = "{type: string}";
    let reference = format!(
        "{{type: object, required: [group, kind, name], properties: {{group: {text}, kind: {text}, name: {text}}}}}"
    );
    format!(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: securitypolicies.gateway.envoyproxy.io}}\nspec:\n  group: gateway.envoyproxy.io\n  scope: Namespaced\n  \
         names: {{kind: SecurityPolicy, listKind: SecurityPolicyList, plural: securitypolicies, singular: securitypolicy}}\n  \
         versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
         properties:\n          spec:\n            type: object\n            {required}\n            properties:\n              \
         cors: {{type: object, x-kubernetes-preserve-unknown-fields: true}}\n              targetRef: {reference}\n            \
         x-kubernetes-validations:\n            - rule: \"!has(self.targetRef) || self.targetRef.kind in [{kinds}]\"\n            \
         - rule: \"has(self.cors)\"\n"
    )
}

#[test]
fn a_definition_of_the_input_counts_before_the_catalog_whether_it_is_newer_or_older() {
    let on = |kinds: &str, kind: &str, name: &str| {
        let spec = format!("{{targetRef: {}, cors: {{}}}}", target(kind, name));
        let text = SMALL.to_owned()
            + &definition(kinds, "required: [targetRef]")
            + &policy(EG, "SecurityPolicy", &spec);
        let mut findings = crate::diagnostic::Findings::new();
        let documents = crate::tests::documents(&[(ocm_hub::source::Room::Hub, &text)]);
        let hub = crate::hub::build(documents, &crate::hub::Options::default(), &mut findings);
        said(&hub)
    };
    // Newer: no release that we know of takes these.
    assert!(
        on("'Gateway', 'Service'", "Service", "s")
            .iter()
            .all(|said| !said.contains("policy/invalid"))
    );
    assert!(
        on("'UDPRoute', 'FooRoute'", "FooRoute", "r1")
            .iter()
            .all(|said| !said.contains("policy/invalid"))
    );
    // Older: it takes no HTTPRoutes yet.
    assert_eq!(
        on("'Gateway'", "HTTPRoute", "r1"),
        ["policy/invalid: a SecurityPolicy cannot target an HTTPRoute [target one of: Gateway] "]
    );
}

#[cfg(feature = "real-crds")]
mod by_the_projects {
    //! What we know of targets, against the definitions of the projects, rule by rule.

    use std::collections::BTreeSet;

    use kube_json::{Value, json};

    use crate::api::crd;
    use crate::api::targeting::{AcceptedKinds, KNOWN, TargetField, Targeting};
    use crate::policy::profiles::Profiles;
    use crate::policy::targeting::Verdict;
    use crate::policy::targeting::known_targets;
    use crate::tests::{object, real_crds};
    use apimachinery::{GroupKind, Work};

    /// The definitions of the newest releases, by kind and served version, with the spec of the schema.
    fn definitions() -> Vec<(crd::Crd, String, Value)> {
        let older = ["gateway-api-v1.4.1", "gateway-api-v1.5.1"];
        let mut found = Vec::new();
        for (path, object) in real_crds() {
            if path
                .components()
                .any(|part| older.iter().any(|older| part.as_os_str() == *older))
            {
                continue;
            }
            let versions = object.value["spec"]["versions"]
                .as_array()
                .expect("versions")
                .clone();
            for version in versions.iter().filter(|version| version["served"] == true) {
                let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
                let fields = TargetField::ALL.map(TargetField::name);
                if fields.iter().any(|field| spec["properties"][field].is_object()) {
                    let name = version["name"].as_str().expect("a name").to_owned();
                    let crd = crd::read(&object).0.expect("a CRD");
                    found.push((crd, name, spec.clone()));
                }
            }
        }
        assert!(found.len() > 45, "{}", found.len());
        found
    }

    /// Whether the whole definition says anything about the target of this spec.
    fn refuses(crd: &crd::Crd, version: &str, spec: &Value) -> bool {
        let policy = object(json!({
            "apiVersion": format!("{}/{version}", crd.group), "kind": crd.kind,
            "metadata": {"name": "p", "namespace": "a"}, "spec": spec,
        }));
        let schema = crd
            .version(version)
            .and_then(|version| version.schema.as_ref())
            .expect("a schema");
        let violations = schema.validate_part(
            "spec",
            &TargetField::ALL.map(TargetField::name),
            spec,
            &mut Work::unlimited().allowance_of(0),
        );
        // The whole object lacks whatever else its kind needs: no rule runs then. So the structure is asked of it, and
        // the rules of the part.
        let structural = crd::check(crd, &policy, &Work::unlimited());
        let about_target = |finding: &crate::diagnostic::Finding| {
            finding.message.contains("spec.target")
                && !finding.is_rule
                && !finding.message.contains("Required value")
        };
        !violations.is_empty() || structural.iter().any(about_target)
    }

    #[test]
    fn the_targets_of_every_kind_are_those_that_its_own_definition_takes() {
        let profiles = Profiles::built_in();
        for (crd, version, spec) in definitions() {
            let kind = GroupKind::new(crd.group.clone(), crd.kind.clone());
            let Some(profile) = profiles.find(&kind, &BTreeSet::from([version.as_str()]), None) else {
                continue;
            };
            let fields = &profile.targeting.definition.fields;
            for field in TargetField::ALL {
                let theirs = spec["properties"][field.name()].is_object();
                assert_eq!(
                    fields.contains(&field),
                    theirs,
                    "{kind} {version} {}",
                    field.name()
                );
            }
            let single = spec["properties"]["targetRef"].is_object();
            for (group, name) in KNOWN {
                let by = |way: &str, value: Value| {
                    let mut target = json!({"group": group, "kind": name});
                    target[way] = value;
                    if single {
                        json!({"targetRef": target})
                    } else {
                        json!({"targetRefs": [target]})
                    }
                };
                let item = if single {
                    &spec["properties"]["targetRef"]
                } else {
                    &spec["properties"]["targetRefs"]["items"]
                };
                let ways = [
                    ("name", json!("x")),
                    ("selector", json!({"matchLabels": {"a": "b"}})),
                ];
                let ways = ways
                    .into_iter()
                    .filter(|(way, _)| item["properties"][way].is_object());
                let taken = ways
                    .map(|(way, value)| by(way, value))
                    .any(|spec| !refuses(&crd, &version, &spec));
                let ours = profile.targeting.judge(group, name) != Verdict::Refused;
                let by_controller = known_targets(&kind).is_some_and(|known| known.taken(true).is_restricted);
                assert!(
                    ours == taken || (by_controller && taken && !ours),
                    "{kind} {version} on {name}.{group}: theirs {taken}, ours {ours}"
                );
            }
        }
    }

    /// Texts in quotes.
    fn quoted(rule: &str) -> Vec<String> {
        let mut parts = rule.split(['\'', '"']);
        let mut found = Vec::new();
        while let (Some(_), Some(text)) = (parts.next(), parts.next()) {
            found.push(text.to_owned());
        }
        found
    }

    #[test]
    fn every_kind_that_a_rule_about_targets_names_is_asked_for() {
        let known: BTreeSet<&str> = KNOWN.iter().flat_map(|(group, kind)| [*group, *kind]).collect();
        // No kinds: a suffix, what NGINX calls the core group, words of messages in rules.
        let others = ["ListenerSet", "core", ""];
        let mut asked = 0;
        for (crd, version, spec) in definitions() {
            let mut rules: Vec<&Value> = Vec::new();
            for field in TargetField::ALL {
                let field = &spec["properties"][field.name()];
                for level in [field, &field["items"]] {
                    rules.extend(level["x-kubernetes-validations"].as_array().into_iter().flatten());
                }
            }
            let of_spec = spec["x-kubernetes-validations"].as_array().into_iter().flatten();
            rules.extend(of_spec.filter(|rule| {
                let text = rule["rule"].as_str().unwrap_or_default();
                text.contains("targetRef") && text.contains(".kind")
            }));
            for rule in rules {
                for text in quoted(rule["rule"].as_str().expect("a rule")) {
                    let is_kind =
                        text.starts_with(char::is_uppercase) && !text.contains('_') || text.contains('.');
                    asked += usize::from(is_kind);
                    assert!(
                        !is_kind || known.contains(text.as_str()) || others.contains(&text.as_str()),
                        "{} {version}: {text} is not asked for",
                        crd.kind
                    );
                }
            }
        }
        assert!(asked > 50, "{asked}");
    }

    #[test]
    fn nothing_is_told_of_targets_that_a_definition_says_itself() {
        for (crd, version, _) in definitions() {
            let kind = GroupKind::new(crd.group.clone(), crd.kind.clone());
            let schema = crd
                .version(&version)
                .and_then(|version| version.schema.as_ref())
                .expect("a schema");
            let targeting =
                Targeting::from_schema(schema, &BTreeSet::new(), &Work::unlimited()).expect("targets");
            let AcceptedKinds { is_restricted, .. } = targeting.named;
            assert!(
                known_targets(&kind).is_none() || !is_restricted,
                "{kind}: its definition restricts targets, so the row in `KNOWN_TARGETS` says nothing"
            );
        }
    }
}
