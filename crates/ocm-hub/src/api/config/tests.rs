//! Every field of the configuration, with valid and invalid values.

use super::*;
use crate::diagnostic::{Part, SourceId};
use crate::object::Ages;

const DOCUMENT: DocumentId = DocumentId {
    source: SourceId(3),
    index: 0,
};
const HEAD: &str = "apiVersion: spokewright.dev/v1alpha1\nkind: RenderConfig\n";

fn of(body: &str) -> (RenderConfig, Vec<Finding>) {
    read(&format!("{HEAD}{body}"), DOCUMENT)
}

/// Code, pointer, part and help of the only finding.
fn only(body: &str) -> (Code, String, Part, String) {
    let (_, findings) = of(body);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let Place::Field {
        document,
        pointer,
        part,
    } = findings[0].place.clone()
    else {
        panic!("a field")
    };
    assert_eq!(document, DOCUMENT);
    (
        findings[0].code,
        pointer.into(),
        part,
        findings[0].help.clone().unwrap_or_default().into(),
    )
}

#[test]
fn an_empty_configuration_has_the_documented_defaults() {
    let (config, findings) = of("");
    assert_eq!(findings, vec![]);
    let written = config.written.clone();
    assert_eq!(
        config,
        RenderConfig {
            document: config.document,
            written,
            ..RenderConfig::default()
        }
    );
    assert_eq!(config.controller_name, "kuadrant.io/mgc-gw-controller");
    assert_eq!(
        (config.hub, config.spokes.as_str(), config.output.as_str()),
        (vec![".".to_owned()], "spokes", "rendered")
    );
}

#[test]
fn every_field_is_read() {
    let (config, findings) = of(
        "controllerName: a.b/c\nhub: [x, z]\nspokes: s\ncrds: [d]\noutput: o\noutputExceptions: [r]\nexclude: ['charts/**']\n\
        placement: {source: Evaluate, mode: Fixpoint}\nprecedence: {creationTimestamp: Ignore}\nistio: {rootNamespace: mesh}\nsecrets: Copy\n\
        hubObjects: Annotated\nprofiles: [{kind: X}]\n\
        findings: {policy/target-not-found: warning, policy/same-target: \"off\", policy/overridden: error}\n\
        suppress: [{code: secret/not-rendered, object: gateway/a/b, path: 'x/**', reason: why, until: 2027-03-31}]\n\
        diff: {budget: {maxRemoved: 5, maxLostPolicies: 0}}\nwaves: {namespace: shop, placement: everywhere}\n",
    );
    let suppress = config.suppress.clone();
    assert_eq!(suppress.len(), 1);
    let suppression = suppress.first().unwrap();
    assert_eq!(
        (suppression.code, suppression.reason.as_str()),
        (Code::SECRET_NOT_RENDERED, "why")
    );
    // A day is over when the next one begins.
    assert_eq!(suppression.until, Some("2027-04-01T00:00:00Z".parse().unwrap()));
    assert_eq!(findings, vec![]);
    let expected = RenderConfig {
        controller_name: "a.b/c".into(),
        hub: vec!["x".into(), "z".into()],
        spokes: "s".into(),
        crds: vec!["d".into()],
        output: "o".into(),
        output_exceptions: vec!["r".into()],
        exclude: vec!["charts/**".into()],
        placement: Some(Placements {
            source: PlacementSource::Evaluate,
            mode: PlacementMode::Fixpoint,
        }),
        waves: Some(Waves {
            namespace: "shop".into(),
            placement: "everywhere".into(),
        }),
        precedence: Some(PolicyPrecedence {
            creation_timestamp: Ages::Ignore,
        }),
        istio: Some(Istio {
            root_namespace: "mesh".into(),
        }),
        secrets: Secrets::Copy,
        hub_objects: HubObjects::Annotated,
        profiles: vec![kube_json::json!({"kind": "X"})],
        findings: BTreeMap::from([
            (Code::POLICY_TARGET_NOT_FOUND, SeverityOverride::Warning),
            (Code::POLICY_SAME_TARGET, SeverityOverride::Off),
            (Code::POLICY_OVERRIDDEN, SeverityOverride::Error),
        ]),
        suppress,
        document: config.document,
        written: config.written.clone(),
        diff: Some(DiffSettings {
            budget: Some(Budget {
                max_removed: Some(5),
                max_clusters: None,
                max_lost_policies: Some(0),
            }),
        }),
        ..RenderConfig::default()
    };
    assert_eq!(config, expected);
}

#[test]
fn a_bare_off_which_yaml_takes_for_false_switches_off() {
    let (config, findings) = of("findings: {policy/same-target: false}\n");
    assert_eq!(findings, vec![]);
    assert_eq!(
        config.findings.get(&Code::POLICY_SAME_TARGET),
        Some(&SeverityOverride::Off)
    );
}

#[test]
fn an_unknown_field_names_the_nearest_and_stands_at_its_key() {
    let (code, pointer, part, help) = only("outputs: x\n");
    assert_eq!(
        (code, pointer.as_str(), part),
        (Code::CONFIG_UNKNOWN_FIELD, "/outputs", Part::Key)
    );
    assert_eq!(help, "did you mean `output`?");
    assert_eq!(only("placement: {sauce: Auto}\n").1, "/placement/sauce");
}

#[test]
fn codes_must_exist_and_be_configurable() {
    let (code, pointer, _, help) = only("findings: {policy/target-notfound: off}\n");
    assert_eq!(
        (code, pointer.as_str()),
        (Code::CONFIG_UNKNOWN_FIELD, "/findings/policy~1target-notfound")
    );
    assert_eq!(help, "did you mean `policy/target-not-found`?");
    assert_eq!(only("findings: {yaml/syntax: warning}\n").0, Code::CONFIG_INVALID);
    let (code, _, _, help) = only("findings: {empty/nothing-rendered: warning}\n");
    assert_eq!(code, Code::CONFIG_INVALID);
    assert!(help.contains("--allow-empty"), "{help}");
}

#[test]
fn choices_are_checked_with_all_errors_at_once() {
    let (config, findings) = of(
        "secrets: copy\nhubObjects: All\nplacement: {mode: Seq}\nhub: []\noutput: ''\nfindings: {policy/overridden: fatal}\n",
    );
    assert_eq!(findings.len(), 6, "{findings:#?}");
    assert!(
        findings
            .iter()
            .all(|finding| finding.code == Code::CONFIG_INVALID)
    );
    let secrets = findings
        .iter()
        .find(|finding| finding.message.contains("secrets"))
        .expect("secrets");
    assert_eq!(secrets.help.as_deref(), Some("did you mean `Copy`?"));
    assert_eq!(config.secrets, Secrets::Omit);
}

#[test]
fn the_type_of_the_file_must_be_right() {
    let (_, findings) = read("apiVersion: v2\n", DOCUMENT);
    let all: String = findings
        .iter()
        .map(|finding| format!("{}\n", finding.message))
        .collect();
    assert!(
        all.contains("Unsupported value: \"v2\": supported values: \"spokewright.dev/v1alpha1\""),
        "{all}"
    );
    assert!(all.contains("kind: Required value"), "{all}");
}

#[test]
fn a_file_that_is_no_yaml_is_one_finding() {
    for text in ["{", "a: b: c", "- 1\n---\n- 2"] {
        let (config, findings) = read(text, DOCUMENT);
        assert_eq!((config, findings.len()), (RenderConfig::default(), 1), "{text}");
    }
    assert_eq!(read("[]", DOCUMENT).1.len(), 1);
}

proptest::proptest! {
    #[test]
    fn no_text_ever_panics(text in r"[a-zA-Z0-9{}\[\]:,'\n -]{0,60}") {
        let _ = of(&text);
    }
}
