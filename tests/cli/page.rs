//! `page`: one HTML file. Its data says what `policies` says, on every path; what surrounds it lets nothing of the input
//! become anything else. `tests/page` looks at it in a browser, and `tests/cases/page` shows its parts.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use zlib_rs::{InflateConfig, decompress_slice};

use crate::scratch::{Scratch, copy, fixtures};

fn fleet() -> Scratch {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    scratch.remove("fleet/hub/shop/overlay.yaml");
    scratch
}

/// The page of an input, and its data.
fn page(scratch: &Scratch, arguments: &[&str]) -> (String, Value) {
    let run = scratch.run(&[&["page", "-q", "-o", "page.html"], arguments].concat());
    assert!([0, 3, 4].contains(&run.status), "{run:?}");
    let html = scratch.read("page.html");
    let data = serde_json::from_str(&data_of(&html)).expect("JSON");
    (html, data)
}

/// The text of the data.
pub(crate) fn data_of(html: &str) -> String {
    let packed = STANDARD.decode(embedded(html)).expect("base64");
    let mut room = vec![0; 50_000_000];
    let (json, _) = decompress_slice(&mut room, &packed, InflateConfig::default());
    String::from_utf8(json.to_vec()).expect("JSON")
}

/// The same as it is in the file.
fn embedded(html: &str) -> &str {
    let (_, rest) = html.split_once("id=\"data\">").expect("a page");
    rest.split_once("</script>").expect("the end of the data").0
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a number")).expect("a position in a list")
}

/// The texts between `<TAG` and `</TAG>`, with whatever stands in the tag.
fn elements<'h>(html: &'h str, tag: &str) -> Vec<(&'h str, &'h str)> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once(&format!("<{tag}")) {
        let (attributes, body) = after.split_once('>').expect("the end of a tag");
        let (body, after) = body
            .split_once(&format!("</{tag}>"))
            .expect("the end of an element");
        found.push((attributes, body));
        rest = after;
    }
    found
}

/// What of the markup must be so on every page.
#[track_caller]
fn is_sound(html: &str) {
    let scripts = elements(html, "script");
    assert_eq!(scripts.len(), 2, "the data and the script");
    let (data, script) = (scripts[0], scripts[1]);
    assert_eq!(data.0, " type=\"text/plain\" id=\"data\"");
    assert_eq!(script.0, "");
    let is_digit = |character: char| character.is_ascii_alphanumeric() || "+/=".contains(character);
    assert!(data.1.chars().all(is_digit), "{}", data.1);
    let styles = elements(html, "style");
    assert_eq!(styles.len(), 1);
    let (_, policy) = html
        .split_once("http-equiv=\"Content-Security-Policy\" content=\"")
        .expect("a policy");
    let (policy, _) = policy.split_once('"').expect("the end of the policy");
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src {}; style-src {}; img-src 'none'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            hash(script.1),
            hash(styles[0].1)
        )
    );
    // What precedes the policy is not under it.
    let (head, _) = html.split_once("http-equiv").expect("a policy");
    assert_eq!(head.matches('<').count(), 5, "{head}");
}

#[test]
fn a_page_has_two_scripts_and_a_policy_that_admits_these_alone() {
    let (html, data) = page(&fleet(), &["fleet"]);
    is_sound(&html);
    assert_eq!(data["kind"], "FleetPage");
    assert_eq!(data["title"], "fleet");
    // Without a script, it says what there is.
    let (_, main) = html.split_once("<main").expect("a page");
    for counted in [
        "3 clusters, 2 Gateways, 3 routes, 9 policies",
        "clusters where another setting applies: 1",
        "download the file",
    ] {
        assert!(main.contains(counted), "{counted}\n{}", &main[..600]);
    }
}

/// The script makes elements and text nodes, and nothing out of texts.
#[test]
fn the_script_has_no_way_to_make_markup_or_code_of_data() {
    let script = std::fs::read_to_string(fixtures().join("../src/report/page/page.js")).expect("the script");
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "createContextualFragment",
        "setAttribute('style",
        "javascript:",
        "srcdoc",
        "DOMParser",
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
    ] {
        assert!(!script.contains(word), "{word}");
    }
    for (number, line) in script.lines().enumerate() {
        assert!(line.chars().count() <= 120, "{}: {line}", number + 1);
    }
}

#[test]
fn script_and_style_stay_small() {
    let (html, _) = page(&fleet(), &["fleet"]);
    let script = elements(&html, "script")[1].1.len();
    let style = elements(&html, "style")[0].1.len();
    assert!(script + style < 135_000, "{script} and {style} bytes");
}

#[test]
fn equal_input_gives_an_equal_page_whatever_the_order_and_the_threads() {
    let scratch = fleet();
    let (first, _) = page(
        &scratch,
        &["fleet/hub", "--spokes", "fleet/spokes", "--title", "x"],
    );
    for paths in [
        [
            "fleet/hub/shop",
            "fleet/hub/payments",
            "fleet/hub/platform",
            "fleet/hub/clusters",
        ],
        [
            "fleet/hub/clusters",
            "fleet/hub/platform",
            "fleet/hub/shop",
            "fleet/hub/payments",
        ],
    ] {
        let arguments = [paths.as_slice(), &["--spokes", "fleet/spokes", "--title", "x"]].concat();
        let run = |threads: &str| {
            let mut command = scratch.command(&[&["page", "-q", "-o", "-"], arguments.as_slice()].concat());
            crate::scratch::Run::of(command.env("RAYON_NUM_THREADS", threads))
                .exits(0)
                .stdout
                .clone()
        };
        let other = run("1");
        assert_eq!(other, run("8"));
        // Paths are relative to what was named.
        let same =
            |html: &str| serde_json::from_str::<Value>(&data_of(html)).expect("JSON")["outcomes"].to_string();
        let lines = |html: &str| same(html).matches("rates").count();
        assert_eq!(lines(&other), lines(&first));
    }
    let (again, _) = page(
        &scratch,
        &["fleet/hub", "--spokes", "fleet/spokes", "--title", "x"],
    );
    assert_eq!(first, again);
    assert!(
        !data_of(&first).contains(scratch.path("").to_str().expect("a path")),
        "no absolute path"
    );
}

/// A page as a reader of its data finds things on it.
struct Reader<'p> {
    data: &'p Value,
    clusters: Vec<&'p str>,
}

/// Locators from the Gateway, or the Service, on.
type Spot = Vec<String>;

/// Kind and group of policies.
type Kind<'p> = [&'p str; 2];

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn texts<'v>(value: &'v Value, field: &str) -> Vec<&'v str> {
    list(value, field).iter().filter_map(Value::as_str).collect()
}

fn kind(entry: &Value) -> Kind<'_> {
    ["kind", "group"].map(|field| text(entry, field))
}

fn paths(entry: &Value) -> Vec<Spot> {
    let paths = list(entry, "paths").iter();
    paths
        .map(|path| serde_json::from_value(path.clone().into()).expect("locators"))
        .collect()
}

impl<'p> Reader<'p> {
    fn new(data: &'p Value) -> Self {
        let clusters = list(data, "clusters").iter();
        Self {
            data,
            clusters: clusters.map(|cluster| text(cluster, "name")).collect(),
        }
    }

    /// The entry of a list that a locator names.
    fn entry(&self, field: &str, name: &str, locator: &str) -> Option<&'p Value> {
        list(self.data, field)
            .iter()
            .find(|entry| text(entry, name) == locator)
    }

    fn clusters_of(&self, gateway: &str) -> Vec<&'p str> {
        texts(
            self.entry("gateways", "gateway", gateway).expect("a Gateway"),
            "clusters",
        )
    }

    /// The listeners of a Gateway that accept a route on a cluster.
    fn listeners(&self, gateway: &str, route: &Value, cluster: Option<&str>) -> Vec<String> {
        let gateway = self.entry("gateways", "gateway", gateway).expect("a Gateway");
        let own: Vec<&str> = list(gateway, "listeners")
            .iter()
            .map(|listener| text(listener, "listener"))
            .collect();
        let attached = list(route, "attached").iter();
        let there = attached.filter(|attached| {
            let only = texts(attached, "clusters");
            own.contains(&text(attached, "listener"))
                && (only.is_empty() || cluster.is_none_or(|cluster| only.contains(&cluster)))
        });
        there
            .map(|attached| text(attached, "listener").to_owned())
            .collect()
    }

    /// Every place on the page that a path of a report stands for.
    fn spots(&self, kind: Kind<'_>, path: &[String], cluster: Option<&str>) -> Vec<Spot> {
        let [class, below @ ..] = path else {
            panic!("no path");
        };
        let path = if class.starts_with("gatewayclass.") {
            below
        } else {
            path
        };
        let route = path.iter().position(|locator| {
            let route = self.entry("routes", "route", locator);
            route.is_some()
        });
        let Some(at) = route else {
            return vec![path.to_vec()];
        };
        let (above, below) = path.split_at(at);
        let route = self.entry("routes", "route", &below[0]).expect("a route");
        let listeners = match above {
            [_, listener] => vec![listener.clone()],
            [gateway] => self.listeners(gateway, route, cluster),
            _ => panic!("{path:?}"),
        };
        let rules: Vec<&str> = list(route, "rules")
            .iter()
            .map(|rule| text(rule, "rule"))
            .collect();
        // What a path leaves out stands for all that there are.
        let ends: Vec<Spot> = match &below[1..] {
            [] => rules.iter().map(|rule| vec![(*rule).to_owned()]).collect(),
            [rule] if rules.contains(&rule.as_str()) => vec![vec![rule.clone()]],
            [rule, .., end] if rules.contains(&rule.as_str()) => vec![vec![rule.clone(), end.clone()]],
            [backend, ..] => {
                let listed = |rule: &str| {
                    let mut entries = list(route, "rules").iter();
                    let entry = entries.find(|entry| text(entry, "rule") == rule);
                    texts(entry.expect("a rule"), "listedBackends")
                };
                let has = |rule: &&&str| listed(rule).contains(&backend.as_str());
                let end = &below[below.len() - 1];
                let all = rules.iter().filter(has);
                all.map(|rule| vec![(*rule).to_owned(), end.clone()]).collect()
            }
        };
        let mut spots = Vec::new();
        for listener in listeners {
            let mut whole = vec![above[0].clone()];
            // The one listener of a Service is the Service.
            whole.extend(Some(listener).filter(|listener| *listener != above[0]));
            whole.push(below[0].clone());
            let is_whole = below.len() == 1 && self.everywhere(kind).contains(&whole);
            let ends = if is_whole { vec![Vec::new()] } else { ends.clone() };
            spots.extend(ends.into_iter().map(|end| [whole.clone(), end].concat()));
        }
        assert!(!spots.is_empty(), "{path:?}");
        spots
    }

    /// Every place where policies of a kind apply on some cluster.
    fn everywhere(&self, wanted: Kind<'_>) -> BTreeSet<Spot> {
        let outcomes = list(self.data, "outcomes").iter();
        let all = outcomes.chain(list(self.data, "exceptions"));
        all.filter(|entry| kind(entry) == wanted)
            .flat_map(paths)
            .collect()
    }

    /// What holds there on a cluster.
    fn outcome(&self, wanted: Kind<'_>, spot: &Spot, cluster: Option<&str>) -> Option<&'p Value> {
        let is_there = |entry: &Value| kind(entry) == wanted && paths(entry).contains(spot);
        let mut exceptions = list(self.data, "exceptions").iter();
        let here = exceptions.find(|exception| {
            cluster.is_some_and(|cluster| texts(exception, "clusters").contains(&cluster))
                && is_there(exception)
        });
        let outcomes = list(self.data, "outcomes");
        match here {
            Some(exception) => outcomes.get(usize::try_from(exception["here"].as_u64()?).ok()?),
            None => outcomes.iter().find(|outcome| is_there(outcome)),
        }
    }

    /// Every place where something holds on a cluster.
    fn everything(&self, cluster: &str) -> BTreeSet<(Kind<'p>, Spot)> {
        let mut places = BTreeSet::new();
        for entry in list(self.data, "kinds") {
            let spots = self.everywhere(kind(entry)).into_iter();
            places.extend(spots.map(|spot| (kind(entry), spot)));
        }
        places.retain(|(kind, spot)| {
            let mut routes = spot.iter().filter_map(|at| self.entry("routes", "route", at));
            let is_there = routes.next().is_none_or(|route| {
                let listeners = self.listeners(&spot[0], route, Some(cluster));
                listeners.iter().any(|listener| spot[..2].contains(listener))
            });
            is_there
                && self.clusters_of(&spot[0]).contains(&cluster)
                && self.outcome(*kind, spot, Some(cluster)).is_some()
        });
        places
    }
}

/// The settings of an outcome: name, value, and the policy that each comes from.
fn settings(outcome: &Value) -> Vec<(String, Value, String)> {
    let settings = list(outcome, "settings").iter();
    let settings = settings.map(|setting| {
        let [name, policy] = ["setting", "policy"].map(|field| text(setting, field).to_owned());
        (name, setting["value"].clone(), policy)
    });
    settings.collect()
}

/// A spec out of its fields; `None` where a list was put together from several policies.
fn spec(settings: &[(String, Value, String)]) -> Option<Value> {
    let mut spec = Value::Object(Map::new());
    for (pointer, value, _) in settings {
        let parts: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        if parts.iter().any(|part| part.parse::<usize>().is_ok()) {
            return None;
        }
        let mut at = &mut spec;
        for part in &parts {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[part.as_str()];
        }
        *at = value.clone();
    }
    Some(spec)
}

/// Compares an entry of `policies` with what the page says there.
#[track_caller]
fn is_same(entry: &Value, outcome: Option<&Value>) {
    let outcome = outcome.unwrap_or_else(|| panic!("the page has nothing there: {entry:#}"));
    let settings = settings(outcome);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let sources: BTreeSet<String> = settings.iter().map(|(_, _, policy)| policy.clone()).collect();
    let expected: BTreeSet<String> = list(entry, "sourcePolicies").iter().map(text).collect();
    assert_eq!(sources, expected, "{entry:#}");
    if let Some(rules) = entry["rules"].as_object() {
        let values: BTreeSet<(String, String)> = settings
            .iter()
            .map(|(_, value, policy)| (policy.clone(), value.to_string()))
            .collect();
        let expected: BTreeSet<(String, String)> = rules
            .iter()
            .map(|(rule, value)| (text(&entry["ruleSources"][rule]), value.to_string()))
            .collect();
        assert_eq!(values, expected, "{entry:#}");
    } else if let Some(spec) = spec(&settings) {
        assert_eq!(spec, entry["spec"], "{entry:#}");
    }
}

/// The page of an input against the reports of `policies`: of the hub, and of every cluster.
#[track_caller]
fn agrees(scratch: &Scratch, arguments: &[&str]) -> usize {
    let (html, data) = page(scratch, arguments);
    is_sound(&html);
    let reader = Reader::new(&data);
    let mut compared = 0;
    let report = |more: &[&str]| -> Value {
        let run = scratch.run(&[&["policies", "-q", "-o", "json"], arguments, more].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    };
    let path_of =
        |entry: &Value| -> Vec<String> { texts(entry, "path").into_iter().map(str::to_owned).collect() };
    for entry in list(&report(&[]), "effective") {
        let path = path_of(entry);
        let named: Vec<&str> = texts(entry, "clusters")
            .into_iter()
            .filter(|name| reader.clusters.contains(name))
            .collect();
        let gateway = &reader.spots(kind(entry), &path, named.first().copied())[0][0];
        let all = reader.clusters_of(gateway);
        let there: Vec<Option<&str>> = match (named.is_empty(), all.is_empty()) {
            (false, _) => named.into_iter().map(Some).collect(),
            (true, false) => all.into_iter().map(Some).collect(),
            (true, true) => vec![None],
        };
        for cluster in there {
            for spot in reader.spots(kind(entry), &path, cluster) {
                is_same(entry, reader.outcome(kind(entry), &spot, cluster));
                compared += 1;
            }
        }
    }
    for name in &reader.clusters {
        let mut said: BTreeSet<([String; 2], Spot)> = BTreeSet::new();
        let named = |kind: Kind<'_>| kind.map(str::to_owned);
        for entry in list(&report(&["--cluster", name]), "effective") {
            for spot in reader.spots(kind(entry), &path_of(entry), Some(name)) {
                // The path of a rule says more than that of its route.
                is_same(entry, reader.outcome(kind(entry), &spot, Some(name)));
                said.insert((named(kind(entry)), spot));
                compared += 1;
            }
        }
        for (kind, spot) in reader.everything(name) {
            let is_route = |locator: &String| reader.entry("routes", "route", locator).is_some();
            let whole = spot.iter().position(is_route).map(|at| spot[..=at].to_vec());
            let is_said = |spot: Spot| said.contains(&(named(kind), spot));
            assert!(
                is_said(spot.clone()) || whole.is_some_and(is_said),
                "{name}: only the page has {kind:?} at {spot:?}"
            );
        }
    }
    compared
}

#[test]
fn the_example_says_what_policies_say() {
    let scratch = fleet();
    assert!(agrees(&scratch, &["fleet"]) > 20);
}

#[test]
fn the_worked_example_says_what_policies_say() {
    assert!(agrees(&Scratch::with_worked_example(), &["hub"]) > 0);
}

#[test]
fn hubs_where_said_and_shipped_once_differed_say_what_policies_say() {
    let mut compared = 0;
    let hubs = fixtures().join("said-and-shipped");
    for hub in std::fs::read_dir(hubs).expect("fixtures") {
        let scratch = Scratch::new();
        let hub = hub.expect("a fixture").path();
        copy(&hub, &scratch.path("."));
        compared += agrees(&scratch, &["."]);
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_mesh_says_what_policies_say() {
    let scratch = Scratch::new();
    copy(&fixtures().join("mesh/hub"), &scratch.path("hub"));
    assert!(agrees(&scratch, &["hub"]) > 5);
}

#[test]
fn policies_on_every_level_say_what_policies_say() {
    let cases = fixtures().join("policy");
    let mut compared = 0;
    for case in std::fs::read_dir(cases).expect("fixtures") {
        let scratch = Scratch::new();
        let case = case.expect("a fixture").path();
        let Ok(input) = std::fs::read_to_string(case.join("input.yaml")) else {
            continue;
        };
        scratch.write("hub/input.yaml", &input);
        eprintln!("{}", case.display());
        compared += agrees(&scratch, &["hub"]);
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn a_place_is_that_of_the_name_of_a_setting() {
    let (_, data) = page(&fleet(), &["fleet"]);
    let scratch = fleet();
    let mut looked = 0;
    for outcome in list(&data, "outcomes") {
        for setting in list(outcome, "settings") {
            let file = scratch.read(&format!("fleet/{}", text(setting, "path")));
            let line = file.lines().nth(index(&setting["line"]) - 1).expect("a line");
            let name = text(setting, "setting");
            let name = name.rsplit(['/', '#']).next().expect("a part");
            assert!(
                line.trim_start_matches("- ").trim_start().starts_with(name),
                "{name}: {line}"
            );
            looked += 1;
        }
    }
    assert!(looked > 10);
}

/// Whatever a stranger writes is text on the page.
#[test]
fn nothing_of_a_hostile_input_becomes_markup() {
    let scratch = fleet();
    let hostile = "</script><script>alert(1)</script><!-- ' \\\" {{DATA}} <!--data--> __proto__ javascript:alert(1) \\u202e\\u2028";
    scratch.edit(
        "fleet/hub/shop/limits.yaml",
        "  name: per-client\n",
        &format!("  name: per-client\n  annotations: {{note: \"{hostile}\"}}\n"),
    );
    scratch.edit(
        "fleet/hub/shop/routes.yaml",
        "value: /catalogue",
        &format!("value: \"/{hostile}\""),
    );
    let title = "</title><script>alert(1)</script>\u{202e}\"'&";
    let (html, data) = page(
        &scratch,
        &[
            "fleet",
            "--title",
            title,
            "--source-url",
            "https://git.example/x?a=<b>",
        ],
    );
    is_sound(&html);
    assert!(html.contains(
        "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;U+202E&gt;&quot;&#39;&amp;</title>"
    ));
    assert_eq!(data["title"], title);
    let route = list(&data, "routes")
        .iter()
        .find(|route| text(route, "route").ends_with("/catalogue"))
        .expect("a route");
    let said = route["rules"][0]["matches"][0].as_str().expect("a match");
    assert!(
        said.contains("</script><script>alert(1)</script><!-- ' \" {{DATA}} <!--data-->"),
        "{said}"
    );
    assert!(
        !html.replace(embedded(&html), "").contains("alert(1)</script>"),
        "only in the data"
    );
}
