//! The Argo CD contract, parameter by parameter.

use std::path::{Path, PathBuf};

use kube_json::json;
use proptest::prelude::*;

use super::*;
use crate::api::config::{Placements, RenderConfig};

fn read(text: &str) -> (Parameters, Vec<String>) {
    let mut findings = Findings::new();
    let parameters = Parameters::read(text, &mut findings);
    let said = findings.iter().map(|finding| {
        assert_eq!(finding.code.exit_status(), 3);
        format!(
            "{}; {}",
            finding.message,
            finding.help.clone().unwrap_or_default()
        )
    });
    (parameters, said.collect())
}

#[track_caller]
fn refuses(text: &str, message: &str) {
    let (_, said) = read(text);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(message), "{said:?}");
}

#[test]
fn an_application_without_parameters_gets_the_defaults() {
    for text in ["", "  ", "[]", "null"] {
        assert_eq!(read(text), (Parameters::default(), Vec::new()), "{text:?}");
    }
}

#[test]
fn every_parameter_is_taken_over() {
    let (parameters, said) = read(
        r#"[{"name":"hub","array":["hub","../platform"]},{"name":"spokes","string":"../spokes"},
            {"name":"secrets","string":"Copy"},{"name":"hubObjects","string":"Annotated"},
            {"name":"placement.source","string":"Evaluate"},{"name":"placement.mode","string":"Fixpoint"},
            {"name":"now","string":"2026-06-01T12:00:00Z"},{"name":"clusters","string":"eu-*"},
            {"name":"allow-empty","string":"true"}]"#,
    );
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(
        parameters,
        Parameters {
            hub: Some(vec!["hub".to_owned(), "../platform".to_owned()]),
            spokes: Some("../spokes".to_owned()),
            secrets: Some(Secrets::Copy),
            hub_objects: Some(HubObjects::Annotated),
            placement_source: Some(PlacementSource::Evaluate),
            placement_mode: Some(PlacementMode::Fixpoint),
            now: Some("2026-06-01T12:00:00Z".parse().unwrap()),
            clusters: vec!["eu-*".to_owned()],
            empty: EmptyResult::Allowed,
            work_kind: WorkKind::ManifestWork,
        }
    );
    let request = parameters.request(&RenderConfig::default());
    assert_eq!(request.output.as_deref(), Some(Path::new("-")));
    assert_eq!(
        (request.hub, request.spokes, request.clusters),
        (
            parameters.hub,
            Some(PathBuf::from("../spokes")),
            vec!["eu-*".to_owned()]
        )
    );
}

#[test]
fn a_misspelled_parameter_names_the_nearest_one() {
    refuses(
        r#"[{"name":"placement.sorce","string":"Auto"}]"#,
        "did you mean `placement.source`?",
    );
    refuses(
        r#"[{"name":"Clusters","string":"a"}]"#,
        "did you mean `clusters`?",
    );
    refuses(
        r#"[{"name":"values","map":{"a":"b"}}]"#,
        "the parameters are: allow-empty, clusters, hub,",
    );
}

#[test]
fn a_wrong_type_says_what_to_write() {
    refuses(
        r#"[{"name":"hub","string":"hub"}]"#,
        "`hub` has the type string, but must be an array of strings; write `{name: hub, array: [...]}`",
    );
    refuses(
        r#"[{"name":"secrets","array":["Copy"]}]"#,
        "`secrets` has the type array, but must be a string",
    );
    refuses(
        r#"[{"name":"clusters","map":{"a":"b"}}]"#,
        "`clusters` has the type map",
    );
    refuses(
        r#"[{"name":"clusters","string":"a","array":[]}]"#,
        "has the type string and array",
    );
    refuses(r#"[{"name":"clusters","value":"eu-1"}]"#, "has no value");
    refuses(r#"[{"name":"clusters","String":"eu-1"}]"#, "has no value");
    refuses(
        r#"[{"name":"clusters","string":7}]"#,
        "contains something that is not a string",
    );
    refuses(
        r#"[{"name":"hub","array":["a",1]}]"#,
        "contains something that is not a string",
    );
}

#[test]
fn a_wrong_value_says_what_is_right() {
    refuses(
        r#"[{"name":"secrets","string":"copy"}]"#,
        "cannot be \"copy\"; did you mean `Copy`?",
    );
    refuses(
        r#"[{"name":"hubObjects","string":"x"}]"#,
        "write one of: None, Annotated",
    );
    refuses(
        r#"[{"name":"now","string":"yesterday"}]"#,
        "is not an RFC 3339 time",
    );
    refuses(r#"[{"name":"clusters","string":"eu-["}]"#, "has an invalid glob");
    refuses(
        r#"[{"name":"allow-empty","string":"yes"}]"#,
        "write one of: true, false",
    );
    refuses(r#"[{"name":"hub","array":["-"]}]"#, "standard input");
    refuses(
        r#"[{"name":"work-kind","string":"replica-sets"}]"#,
        "did you mean `replica-set`?",
    );
    refuses(
        r#"[{"name":"work-kind","string":"replica-set"},{"name":"clusters","string":"eu-*"}]"#,
        "for all clusters of its Placement",
    );
    let (parameters, said) = read(r#"[{"name":"work-kind","string":"replica-set"}]"#);
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(
        parameters.request(&RenderConfig::default()).work_kind,
        WorkKind::ReplicaSet
    );
}

#[test]
fn an_empty_value_among_others_is_refused() {
    refuses(
        r#"[{"name":"hub","array":["a",""]}]"#,
        "is empty; remove the parameter to get its default",
    );
}

#[test]
fn emptied_clusters_mean_every_cluster_and_the_plugin_warns() {
    let (parameters, said) = read(r#"[{"name":"clusters","string":""}]"#);
    assert_eq!(parameters, Parameters::default());
    let [said] = &said[..] else { panic!("{said:?}") };
    assert!(
        said.contains("`clusters` is empty, so every cluster is rendered"),
        "{said}"
    );
}

#[test]
fn what_the_user_interface_hands_back_without_a_value_is_not_set() {
    let (parameters, said) = read(
        r#"[{"name":"clusters"},{"name":"secrets","string":null},{"name":"now","string":""},{"name":"hub","array":[]}]"#,
    );
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(parameters, Parameters::default());
}

#[test]
fn a_variable_that_is_called_like_a_parameter_is_answered() {
    let names = [
        "ARGOCD_ENV_CLUSTERS",
        "ARGOCD_ENV_PLACEMENT_SOURCE",
        "ARGOCD_ENV_TEAM",
        "CLUSTERS",
    ];
    let mut findings = Findings::new();
    report_variables(names.into_iter(), &mut findings);
    let said: Vec<String> = findings
        .iter()
        .map(|finding| finding.message.to_string())
        .collect();
    assert_eq!(
        said,
        [
            "the variable `ARGOCD_ENV_CLUSTERS` is not read: `clusters` is a parameter",
            "the variable `ARGOCD_ENV_PLACEMENT_SOURCE` is not read: `placement.source` is a parameter"
        ]
    );
}

#[test]
fn a_parameter_that_is_set_twice_is_refused() {
    refuses(
        r#"[{"name":"clusters","string":"a"},{"name":"clusters","string":"b"}]"#,
        "`clusters` is set twice",
    );
}

#[test]
fn what_is_no_list_of_parameters_is_refused() {
    refuses("{}", "is not a JSON array");
    refuses("[", "is not JSON");
    refuses("[1]", "has no `name` in entry 0");
    refuses(r#"[{"string":"a"}]"#, "has no `name` in entry 0");
    refuses(r#"[{"name":1}]"#, "has no `name` in entry 0");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let (_, said) = read(r#"[{"name":"a"},{"name":"hub","string":"x"},{"name":"now","string":"x"}]"#);
    assert_eq!(said.len(), 3);
}

#[test]
fn announcements_carry_the_defaults_of_the_configuration_and_their_collection_type() {
    let config = RenderConfig {
        hub: vec!["a".to_owned(), "b".to_owned()],
        secrets: Secrets::Copy,
        ..RenderConfig::default()
    };
    let announced = announcements(&config);
    let announced = announced.as_array().unwrap();
    assert_eq!(announced.len(), PARAMETERS.len());
    let of = |name: &str| announced.iter().find(|entry| entry["name"] == name).unwrap();
    assert_eq!(of("hub")["array"], json!(["a", "b"]));
    assert_eq!(of("hub")["collectionType"], "array");
    assert_eq!(of("secrets")["string"], "Copy");
    assert_eq!(of("secrets")["collectionType"], "string");
    assert_eq!(of("placement.source")["string"], "Auto");
    assert!(of("now").get("string").is_none());
    let keys = [
        "name",
        "title",
        "tooltip",
        "required",
        "itemType",
        "collectionType",
        "string",
        "array",
        "map",
    ];
    for entry in announced {
        assert!(
            entry
                .as_object()
                .unwrap()
                .keys()
                .all(|key| keys.contains(&key.as_str())),
            "{entry}"
        );
    }
}

/// What the user interface hands back when somebody saves an Application without a change.
fn handed_back(config: &RenderConfig) -> Parameters {
    let announced = announcements(config);
    let set: Value = announced
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry.get("string").or(entry.get("array")).is_some())
        .cloned()
        .collect();
    let (parameters, said) = read(&set.to_string());
    assert!(said.is_empty(), "{said:?}");
    parameters
}

fn any_config() -> impl Strategy<Value = RenderConfig> {
    let path = || "[a-z.][a-z/.-]{0,8}".prop_map(|path| path);
    (
        prop::collection::vec(path(), 1..4),
        path(),
        prop::sample::select(vec![Secrets::Omit, Secrets::Copy]),
        prop::sample::select(vec![HubObjects::None, HubObjects::Annotated]),
        prop::sample::select(vec![
            PlacementSource::Auto,
            PlacementSource::Decisions,
            PlacementSource::Evaluate,
        ]),
        prop::sample::select(vec![
            PlacementMode::Snapshot,
            PlacementMode::Sequential,
            PlacementMode::Fixpoint,
        ]),
    )
        .prop_map(|(hub, spokes, secrets, hub_objects, source, mode)| RenderConfig {
            hub,
            spokes,
            placement: Some(Placements { source, mode }),
            secrets,
            hub_objects,
            ..RenderConfig::default()
        })
}

proptest! {
    #[test]
    fn the_announced_defaults_of_any_configuration_change_nothing_when_they_are_handed_back(config in any_config()) {
        let request = handed_back(&config).request(&config);
        let nothing = Parameters::default().request(&config);
        // Where a parameter names what the configuration says, the run reads the same, and no more must be there.
        prop_assert_eq!((&request.hub, &request.spokes), (&nothing.hub, &nothing.spokes));
        prop_assert_eq!((&request.clusters, request.now), (&nothing.clusters, nothing.now));
        prop_assert_eq!(request.work_kind, nothing.work_kind);
        prop_assert_eq!(handed_back(&config).empty, Parameters::default().empty);
        prop_assert_eq!(request.secrets, Some(config.secrets));
        prop_assert_eq!(request.hub_objects, Some(config.hub_objects));
        prop_assert_eq!(request.placement, config.placement.map(|placement| placement.source));
        prop_assert_eq!(request.mode, config.placement.map(|placement| placement.mode));
    }
}

#[test]
fn the_boundary_is_as_far_up_as_the_path_says_and_agrees() {
    let at = |directory: &str, path: &str| boundary(Path::new(directory), path).display().to_string();
    assert_eq!(
        at("/tmp/_cmp_server/1f/apps/fleet", "apps/fleet"),
        "/tmp/_cmp_server/1f"
    );
    assert_eq!(
        at("/tmp/_cmp_server/1f/apps/fleet", "./apps//fleet/"),
        "/tmp/_cmp_server/1f"
    );
    assert_eq!(at("/tmp/_cmp_server/1f", "."), "/tmp/_cmp_server/1f");
    assert_eq!(at("/tmp/_cmp_server/1f", ""), "/tmp/_cmp_server/1f");
    // Only apps/ was streamed.
    assert_eq!(
        at("/tmp/_cmp_server/1f/fleet", "apps/fleet"),
        "/tmp/_cmp_server/1f"
    );
    assert_eq!(at("/tmp/_cmp_server/1f", "apps/fleet"), "/tmp/_cmp_server/1f");
    assert_eq!(at("/tmp/_cmp_server/1f/a", "../a"), "/tmp/_cmp_server/1f");
    assert_eq!(at("/", "a/b"), "/");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,40}") {
        let _ = read(&text);
        let _ = read(&format!("[{{\"name\":\"hub\",\"array\":[{text:?}]}}]"));
        let _ = boundary(Path::new(&text), &text);
    }
}
