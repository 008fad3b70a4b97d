//! `page`: one HTML file. Its data says what `policies` says, on every path; what surrounds it lets nothing of the input
//! become anything else. `tests/page` looks at it in a browser.

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
fn data_of(html: &str) -> String {
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

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(-1)
}

fn index(number: i64) -> usize {
    usize::try_from(number).expect("a position in a list")
}

fn position_of(index: usize) -> i64 {
    i64::try_from(index).expect("a short list")
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
    assert!(script + style < 125_000, "{script} and {style} bytes");
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

/// Gateway, listener, route, rule, backend; -1 for what a path has not.
type Spot = [i64; 5];

impl<'p> Reader<'p> {
    fn new(data: &'p Value) -> Self {
        let clusters = list(data, "clusters").iter();
        let clusters = clusters.map(|cluster| cluster["name"].as_str().expect("a name"));
        Self {
            data,
            clusters: clusters.collect(),
        }
    }

    fn members(&self, set: &Value) -> BTreeSet<usize> {
        let ranges = &self.data["sets"][index(number(set))];
        let ranges: Vec<usize> = ranges
            .as_array()
            .expect("ranges")
            .iter()
            .map(|end| index(number(end)))
            .collect();
        ranges.chunks(2).flat_map(|range| range[0]..=range[1]).collect()
    }

    fn kind(&self, entry: &Value) -> i64 {
        let mut kinds = list(self.data, "kinds").iter();
        let found = kinds.position(|kind| kind["kind"] == entry["kind"] && kind["group"] == entry["group"]);
        found.map_or(-1, position_of)
    }

    /// Every place on the page that a path of a report stands for.
    fn spots(&self, kind: i64, path: &[&str], cluster: Option<usize>) -> Vec<Spot> {
        let mut spot = [-1_i64; 5];
        for locator in path {
            let (kind, rest) = locator.split_once(':').expect("a locator");
            let (name, section) = rest
                .split_once('#')
                .map_or((rest, None), |(name, section)| (name, Some(section)));
            let kind = kind.split('.').next().expect("a kind");
            let named = |row: &Value| {
                format!(
                    "{}/{}",
                    row["ns"].as_str().unwrap_or(""),
                    row["name"].as_str().unwrap_or("")
                ) == name
            };
            let find = |field: &str, is_it: &dyn Fn(&Value) -> bool| {
                list(self.data, field)
                    .iter()
                    .position(is_it)
                    .map_or(-1, position_of)
            };
            let route = find("routes", &|row| {
                named(row) && row["kind"].as_str().is_some_and(|of| of.to_lowercase() == kind)
            });
            let gateway = find("gateways", &|row| {
                named(row) && row["kind"].as_str().unwrap_or("Gateway").to_lowercase() == kind
            });
            let is_listener_set = kind.ends_with("listenerset");
            if kind == "gatewayclass" {
                continue;
            }
            if spot[0] < 0 && gateway >= 0 {
                spot[0] = gateway;
            } else if (kind == "gateway" || is_listener_set) && section.is_some() {
                let listeners = list(&self.data["gateways"][index(spot[0])], "listeners").iter();
                let found = listeners.enumerate().find(|(_, row)| {
                    let of = row["set"]
                        .as_str()
                        .map(|set| set.rsplit(' ').next().unwrap_or(set));
                    row["name"].as_str() == section && of == is_listener_set.then_some(name)
                });
                spot[1] = position_of(found.expect("a listener").0);
            } else if spot[2] < 0 && route >= 0 {
                spot[2] = route;
            } else if route >= 0 && route == spot[2] && section.is_some() {
                let rules = list(&self.data["routes"][index(route)], "rules").iter();
                let found = rules.enumerate().find(|(at, row)| match row["name"].as_str() {
                    Some(name) => Some(name) == section,
                    None => section == Some(format!("rule-{}", at + 1).as_str()),
                });
                spot[3] = position_of(found.expect("a rule").0);
            } else {
                spot[4] = find("backends", &|row| {
                    let text = row["text"].as_str().expect("a text");
                    let (text, port) = text
                        .split_once(", port ")
                        .map_or((text, None), |(text, port)| (text, Some(port)));
                    let (of, text) = text.split_once(' ').expect("a kind");
                    of.to_lowercase() == kind && text == name && port == section
                });
                assert!(spot[4] >= 0, "{locator}");
            }
        }
        assert!(spot[0] >= 0, "{path:?}");
        if spot[2] < 0 {
            return vec![spot];
        }
        // What a path leaves out stands for all that there are.
        let route = &self.data["routes"][index(spot[2])];
        let on = list(route, "on").iter().filter(|on| number(&on[0]) == spot[0]);
        let here = on.filter(|on| {
            let only = on.get(4).map(|set| self.members(set));
            only.is_none_or(|only| cluster.is_none_or(|cluster| only.contains(&cluster)))
        });
        let listeners: Vec<i64> = here
            .map(|on| number(&on[1]))
            .filter(|listener| spot[1] < 0 || spot[1] == *listener)
            .collect();
        let rules = list(route, "rules");
        let has_whole = self.extra(kind, spot).is_some();
        let rules: Vec<i64> = match spot {
            [.., rule, _] if rule >= 0 => vec![rule],
            [.., backend] if backend >= 0 => {
                let of = self.data["backends"][index(backend)]["of"]
                    .as_i64()
                    .unwrap_or(backend);
                let has = |rule: &&(usize, &Value)| list(rule.1, "b").iter().any(|known| number(known) == of);
                let all: Vec<(usize, &Value)> = rules.iter().enumerate().collect();
                all.iter().filter(has).map(|(at, _)| position_of(*at)).collect()
            }
            _ if has_whole => vec![-1],
            _ => (0..position_of(rules.len())).collect(),
        };
        let mut spots = Vec::new();
        for listener in listeners {
            spots.extend(
                rules
                    .iter()
                    .map(|rule| [spot[0], listener, spot[2], *rule, spot[4]]),
            );
        }
        assert!(!spots.is_empty(), "{path:?}");
        spots
    }

    /// What a route says of a place that is no cell.
    fn extra(&self, kind: i64, [gateway, listener, route, rule, backend]: Spot) -> Option<i64> {
        let on = list(&self.data["routes"][usize::try_from(route).ok()?], "on").iter();
        let mut of =
            on.filter(|on| number(&on[0]) == gateway && (listener < 0 || number(&on[1]) == listener));
        of.find_map(|on| {
            let mut others = on.get(3)?.as_array()?.iter();
            let found = others.find(|other| {
                [number(&other[0]), number(&other[1]), number(&other[2])] == [rule, backend, kind]
            });
            found.map(|other| number(&other[3]))
        })
    }

    /// What holds there on most clusters.
    fn common(&self, kind: i64, spot: Spot) -> i64 {
        let [gateway, listener, route, rule, backend] = spot;
        if route < 0 {
            let mut own = list(&self.data["gateways"][index(gateway)], "own").iter();
            let found = own.find(|own| [number(&own[0]), number(&own[1])] == [listener, kind]);
            return found.map_or(-1, |own| number(&own[2]));
        }
        let mut columns = list(self.data, "ruleKinds").iter();
        let column = columns.position(|column| number(column) == kind);
        let (Some(column), true, true) = (column, rule >= 0, backend < 0) else {
            return self.extra(kind, spot).unwrap_or(-1);
        };
        let mut on = list(&self.data["routes"][index(route)], "on").iter();
        let on = on.find(|on| [number(&on[0]), number(&on[1])] == [gateway, listener]);
        let profile = &on.expect("a listener that takes the route")[2];
        let profile = if profile.is_array() {
            &profile[index(rule)]
        } else {
            profile
        };
        number(&self.data["profiles"][index(number(profile))][column])
    }

    /// What holds there on a cluster.
    fn outcome(&self, kind: i64, spot: Spot, cluster: Option<usize>) -> i64 {
        let mut exceptions = list(self.data, "exceptions").iter();
        let here = exceptions.find(|exception| {
            let on = list(exception, "on").iter();
            let mut on =
                on.map(|on| -> Vec<i64> { on.as_array().expect("a place").iter().map(number).collect() });
            number(&exception["kind"]) == kind
                && cluster.is_some_and(|cluster| self.members(&exception["clusters"]).contains(&cluster))
                && on.any(|on| (0..5).all(|at| on.get(at).copied().unwrap_or(-1) == spot[at]))
        });
        here.map_or_else(|| self.common(kind, spot), |exception| number(&exception["new"]))
    }

    fn locator(&self, policy: &Value) -> String {
        let policy = &self.data["policies"][index(number(policy))];
        let kind = &self.data["kinds"][index(number(&policy["kind"]))];
        let kind_name = kind["kind"].as_str().expect("a kind").to_lowercase();
        let namespace = policy["ns"].as_str().filter(|namespace| !namespace.is_empty());
        let namespace = namespace
            .map(|namespace| format!("{namespace}/"))
            .unwrap_or_default();
        format!(
            "{kind_name}.{}:{namespace}{}",
            kind["group"].as_str().expect("a group"),
            policy["name"].as_str().expect("a name")
        )
    }

    /// The settings of an outcome: name, value, and the policy that each comes from.
    fn settings(&self, outcome: i64) -> Vec<(String, Value, String)> {
        let outcome = &self.data["outcomes"][usize::try_from(outcome).expect("an outcome")];
        list(outcome, "set")
            .iter()
            .map(|setting| {
                let value = self.data["values"][index(number(&setting[1]))].clone();
                (
                    setting[0].as_str().expect("a name").to_owned(),
                    value,
                    self.locator(&setting[2]),
                )
            })
            .collect()
    }

    /// Every place where something holds on a cluster.
    fn everything(&self, cluster: usize) -> BTreeSet<(i64, Spot)> {
        let mut places: BTreeSet<(i64, Spot)> = BTreeSet::new();
        for (gateway, row) in list(self.data, "gateways").iter().enumerate() {
            if self.members(&row["clusters"]).contains(&cluster) {
                for own in list(row, "own") {
                    places.insert((
                        number(&own[1]),
                        [position_of(gateway), number(&own[0]), -1, -1, -1],
                    ));
                }
            }
        }
        for (route, row) in list(self.data, "routes").iter().enumerate() {
            for on in list(row, "on") {
                let clusters = on.get(4).map(|only| self.members(only));
                let gateway = &self.data["gateways"][index(number(&on[0]))];
                let clusters = clusters.unwrap_or_else(|| self.members(&gateway["clusters"]));
                if !clusters.contains(&cluster) {
                    continue;
                }
                let at = |rule: i64, backend: i64| {
                    [number(&on[0]), number(&on[1]), position_of(route), rule, backend]
                };
                for kind in list(self.data, "ruleKinds") {
                    places.extend(
                        (0..list(row, "rules").len()).map(|rule| (number(kind), at(position_of(rule), -1))),
                    );
                }
                for other in on.get(3).and_then(Value::as_array).into_iter().flatten() {
                    places.insert((number(&other[2]), at(number(&other[0]), number(&other[1]))));
                }
            }
        }
        places.retain(|(kind, spot)| self.outcome(*kind, *spot, Some(cluster)) >= 0);
        places
    }
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
fn is_same(reader: &Reader<'_>, entry: &Value, outcome: i64) {
    assert!(outcome >= 0, "the page has nothing there: {entry:#}");
    let settings = reader.settings(outcome);
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
    let path_of = |entry: &Value| -> Vec<String> {
        list(entry, "path")
            .iter()
            .map(|locator| locator.as_str().expect("a locator").to_owned())
            .collect()
    };
    for entry in list(&report(&[]), "effective") {
        let path = path_of(entry);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let kind = reader.kind(entry);
        let named: BTreeSet<usize> = list(entry, "clusters")
            .iter()
            .filter_map(|name| reader.clusters.iter().position(|known| name == known))
            .collect();
        let gateway = reader.spots(kind, &path, named.first().copied())[0][0];
        let all = reader.members(&data["gateways"][index(gateway)]["clusters"]);
        let there: Vec<Option<usize>> = match (named.is_empty(), all.is_empty()) {
            (false, _) => named.into_iter().map(Some).collect(),
            (true, false) => all.into_iter().map(Some).collect(),
            (true, true) => vec![None],
        };
        for cluster in there {
            for spot in reader.spots(kind, &path, cluster) {
                is_same(&reader, entry, reader.outcome(kind, spot, cluster));
                compared += 1;
            }
        }
    }
    for (cluster, name) in reader.clusters.iter().enumerate() {
        let mut said: BTreeSet<(i64, Spot)> = BTreeSet::new();
        for entry in list(&report(&["--cluster", name]), "effective") {
            let path = path_of(entry);
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let kind = reader.kind(entry);
            for spot in reader.spots(kind, &path, Some(cluster)) {
                // The path of a rule says more than that of its route.
                is_same(&reader, entry, reader.outcome(kind, spot, Some(cluster)));
                said.insert((kind, spot));
                compared += 1;
            }
        }
        for (kind, spot) in reader.everything(cluster) {
            let whole = [spot[0], spot[1], spot[2], -1, -1];
            assert!(
                said.contains(&(kind, spot)) || said.contains(&(kind, whole)),
                "{name}: only the page has {kind} at {spot:?}"
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
        let _ = std::fs::remove_file(scratch.path("expected.txt"));
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
        for setting in list(outcome, "set") {
            let file = data["files"][index(number(&setting[3]))]
                .as_str()
                .expect("a file");
            let text = scratch.read(&format!("fleet/{file}"));
            let line = text.lines().nth(index(number(&setting[4])) - 1).expect("a line");
            let name = setting[0].as_str().expect("a name");
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
        .find(|route| route["name"] == "catalogue")
        .expect("a route");
    let said = route["rules"][0]["m"][0].as_str().expect("a match");
    assert!(
        said.contains("</script><script>alert(1)</script><!-- ' \" {{DATA}} <!--data-->"),
        "{said}"
    );
    assert!(
        !html.replace(embedded(&html), "").contains("alert(1)</script>"),
        "only in the data"
    );
}

#[test]
fn no_secret_is_on_the_page() {
    let scratch = fleet();
    scratch.write(
        "fleet/hub/shop/list.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: storefront-web-tls, namespace: \
         shop}\n  stringData: {tls.key: HUSH}\n- apiVersion: kuadrant.io/v1\n  kind: RateLimitPolicy\n  metadata: {name: in-a-list, \
         namespace: shop}\n  spec:\n    targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}\n    limits: \
         {of-a-list: {rates: [{limit: 7, window: 1s}]}}\n",
    );
    copy(&scratch.path("fleet"), &scratch.path("base"));
    scratch.edit("base/hub/shop/list.yaml", "HUSH", "SILENT");
    let (html, data) = page(&scratch, &["fleet", "--base-dir", "base"]);
    let said = data_of(&html);
    assert!(!said.contains("HUSH") && !said.contains("SILENT"));
    let policy = list(&data, "policies")
        .iter()
        .find(|policy| policy["name"] == "in-a-list")
        .expect("a policy");
    let text = policy["text"].as_str().expect("a text");
    assert!(text.contains("of-a-list") && !text.contains("Secret"), "{text}");
}

#[test]
fn an_input_with_errors_has_a_page_that_shows_them() {
    let scratch = fleet();
    scratch.write(
        "fleet/hub/shop/broken.yaml",
        "apiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: Broken}\n",
    );
    let run = scratch.run(&["page", "fleet", "-o", "page.html", "--base-dir", "fleet"]);
    run.exits(3).says("not compared with a base");
    let data: Value = serde_json::from_str(&data_of(&scratch.read("page.html"))).expect("JSON");
    assert!(
        list(&data, "findings")
            .iter()
            .any(|finding| finding["severity"] == "error")
    );
    assert_eq!(list(&data, "gateways").len(), 2);
    assert!(data["change"].is_null());
}

#[test]
fn a_stream_is_the_file() {
    let scratch = fleet();
    let (html, _) = page(&scratch, &["fleet"]);
    assert_eq!(
        scratch.run(&["page", "fleet", "-q", "-o", "-"]).exits(0).stdout,
        html
    );
}

#[test]
fn only_addresses_of_the_web_become_links() {
    let scratch = fleet();
    for wrong in [
        "javascript:alert(1)",
        "data:text/html,x",
        "//git.example",
        "https://git.example/a b",
    ] {
        let run = scratch.run(&["page", "fleet", "-o", "page.html", "--source-url", wrong]);
        run.exits(2).says("write the address of a directory");
    }
    let (_, data) = page(
        &scratch,
        &["fleet", "--source-url", "https://git.example/blob/main"],
    );
    assert_eq!(data["sourceUrl"], "https://git.example/blob/main/");
}

#[test]
fn a_change_is_on_the_page() {
    let scratch = fleet();
    copy(&scratch.path("fleet"), &scratch.path("base"));
    scratch.edit("base/hub/shop/limits.yaml", "limit: 20\n", "limit: 50\n");
    // A route that had a policy has none of its kind any more.
    scratch.write(
        "base/hub/shop/extra.yaml",
        "apiVersion: edge.acme.example/v1alpha1\nkind: AccessLogPolicy\nmetadata: {name: extra, namespace: payments}\nspec:\n  \
         targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: payments}]\n  format: Json\n",
    );
    let (html, data) = page(&scratch, &["fleet", "--base-dir", "base"]);
    let change = &data["change"];
    assert_eq!([&change["old"], &change["new"]], ["base", "work tree"]);
    assert_eq!(change["summary"]["changedClusters"], 3);
    let kinds: Vec<&Value> = list(change, "effective")
        .iter()
        .map(|row| &row["kindName"])
        .collect();
    assert!(
        kinds.contains(&&Value::from("RateLimitPolicy")) && kinds.contains(&&Value::from("AccessLogPolicy")),
        "{kinds:?}"
    );
    assert!(html.contains("3 of 3 clusters change, compared with base"));
    let rendered = scratch.run(&["render", "base", "-q", "-o", "rendered"]);
    rendered.exits(0);
    let (_, data) = page(&scratch, &["fleet", "--base-tree", "rendered"]);
    assert_eq!(data["change"]["summary"]["changedClusters"], 3);
}

#[test]
fn what_would_change_without_a_policy_is_what_explain_says() {
    let scratch = fleet();
    let (_, data) = page(&scratch, &["fleet"]);
    let policy = list(&data, "policies")
        .iter()
        .find(|policy| policy["name"] == "api-burst")
        .expect("a policy");
    let deleted = list(policy, "ifDeleted");
    let run = scratch.run(&[
        "explain",
        "ratelimitpolicy/shop/api-burst",
        "fleet",
        "-q",
        "-o",
        "json",
    ]);
    let explained: Value = serde_json::from_str(&run.exits(0).stdout).expect("JSON");
    let explained = list(&explained["policy"], "ifDeleted");
    assert_eq!(deleted.len(), explained.len(), "{deleted:?}\n{explained:?}");
    let settings: BTreeSet<&str> = deleted
        .iter()
        .flat_map(|row| row[1].as_array().expect("settings"))
        .map(|setting| setting[0].as_str().expect("a name"))
        .collect();
    assert_eq!(settings, BTreeSet::from(["per-client", "reads", "writes"]));
    // On eu-1 something else holds in its place.
    let clusters = &data["sets"][index(number(&deleted[0][2]))];
    assert_eq!(clusters.to_string(), "[1,2]");
}

#[test]
fn a_policy_that_lets_everybody_in_is_no_coverage() {
    let scratch = fleet();
    scratch.write(
        "fleet/hub/shop/public.yaml",
        "apiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: public, namespace: shop}\nspec:\n  targetRef: {group: \
         gateway.networking.k8s.io, kind: Gateway, name: storefront, sectionName: web}\n  rules: {authentication: {everybody: {anonymous: {}}}}\n",
    );
    let (html, data) = page(&scratch, &["fleet"]);
    let open: Vec<&Value> = list(&data, "outcomes")
        .iter()
        .filter(|outcome| outcome["open"] == true)
        .collect();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["set"][0][0], "authentication#everybody");
    assert!(
        html.contains("routes without AuthPolicy: 1 of 3"),
        "a gap that somebody wanted is one"
    );
}

#[test]
fn a_policy_that_its_controller_refuses_is_no_coverage() {
    let scratch = Scratch::with_worked_example();
    scratch.edit("hub/class.yaml", "kuadrant.io/mgc-gw-controller", "x.org/y");
    let on = |name: &str, limit: &str| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, namespace: gateways}}\nspec: \
             {{parentRefs: [{{name: prod-web}}], rules: [{{name: all}}]}}\n---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: \
             BackendTrafficPolicy\nmetadata: {{name: {name}, namespace: gateways}}\nspec: {{targetRefs: [{{group: \
             gateway.networking.k8s.io, kind: HTTPRoute, name: {name}}}], connection: {{bufferLimit: {limit}}}}}\n"
        )
    };
    scratch.write("hub/good.yaml", &on("good", "1Mi"));
    scratch.write("hub/bad.yaml", &on("bad", "8Gi"));
    let gap = "routes without BackendTrafficPolicy: 1 of 2";
    assert!(page(&scratch, &["hub"]).0.contains(gap));
    scratch.write("hub/bad.yaml", &on("bad", "8Mi"));
    assert!(
        !page(&scratch, &["hub"])
            .0
            .contains("routes without BackendTrafficPolicy")
    );
}

#[test]
fn what_clusters_report_is_on_the_page() {
    let scratch = Scratch::with_worked_example();
    scratch.write("works.yaml", "apiVersion: v1\nkind: List\nitems: []\n");
    let (html, data) = page(&scratch, &["hub", "--works", "works.yaml"]);
    is_sound(&html);
    let works = &data["works"];
    assert_eq!(works["applied"], 0);
    let problems = list(works, "problems");
    assert!(
        !problems.is_empty() && problems.iter().all(|problem| problem["state"] == "missing"),
        "{problems:?}"
    );
    assert!(problems.iter().any(|problem| number(&problem["gateway"]) >= 0));
    let gateway = &data["gateways"][0];
    assert!(gateway["reported"].is_array(), "{gateway:#}");
}

#[test]
fn rules_that_permit_everything_are_no_coverage() {
    let scratch = Scratch::new();
    let policy = |action: &str, rules: &str| {
        let text = format!(
            "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {{name: everybody, namespace: edge}}\n\
             spec: {{action: {action}, rules: {rules}, targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: alone}}]}}\n---\n\
             apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: alone, namespace: edge}}\n\
             spec: {{gatewayClassName: istio, listeners: [{{name: web, port: 80, protocol: HTTP}}]}}\n"
        );
        scratch.write("hub/everybody.yaml", &text);
        let (_, data) = page(&scratch, &["hub"]);
        let mine = position_in(list(&data, "policies"), "everybody");
        let outcomes = list(&data, "outcomes").iter();
        let mine: Vec<Value> = outcomes
            .filter(|outcome| list(outcome, "set").iter().any(|set| number(&set[2]) == mine))
            .map(|outcome| outcome["open"].clone())
            .collect();
        mine
    };
    let open = policy("ALLOW", "[{}]");
    assert!(!open.is_empty());
    let some = policy("ALLOW", "[{from: [{source: {principals: [a]}}]}]");
    assert!(some.iter().all(Value::is_null), "{some:?}");
}

fn position_in(list: &[Value], name: &str) -> i64 {
    position_of(list.iter().position(|entry| entry["name"] == name).expect(name))
}

#[test]
fn replica_sets_carry_gateways_as_works_do() {
    let scratch = fleet();
    // A set is the same on every cluster.
    std::fs::remove_file(scratch.path("fleet/spokes/eu-1/limits.yaml")).expect("a file of the example");
    scratch.edit(
        "fleet/hub/platform/gateway-params.yaml",
        "\"istio\",",
        "\"istio\", \"workPer\": \"Gateway\",",
    );
    let (html, data) = page(&scratch, &["fleet", "--work-kind", "replica-set"]);
    is_sound(&html);
    for gateway in list(&data, "gateways") {
        let work = gateway["work"].as_str().expect("a set");
        assert!(work.starts_with("ManifestWorkReplicaSet "), "{work}");
        let carried = list(gateway, "objects").iter();
        let kinds: BTreeSet<&str> = carried.filter_map(|object| object[0].as_str()).collect();
        assert!(
            kinds.contains("Gateway") && kinds.contains("RateLimitPolicy"),
            "{kinds:?}"
        );
    }
    let (_, works) = page(&scratch, &["fleet"]);
    for field in ["outcomes", "routes", "exceptions"] {
        assert_eq!(data[field], works[field], "{field}");
    }
}

#[test]
fn a_page_of_some_clusters_has_these_and_what_goes_there() {
    let scratch = fleet();
    for clusters in [&["--clusters", "us-1"][..], &["--clusters", "us-1,nope-*"]] {
        let (html, data) = page(&scratch, &[&["fleet"], clusters].concat());
        is_sound(&html);
        let names = |field: &str| -> Vec<&str> {
            list(&data, field)
                .iter()
                .filter_map(|entry| entry["name"].as_str())
                .collect()
        };
        assert_eq!(names("clusters"), ["us-1"]);
        assert_eq!(names("gateways"), ["storefront"], "payments goes elsewhere");
        assert_eq!(names("routes"), ["web", "catalogue"]);
        assert_eq!(list(&data, "exceptions").len(), 0, "eu-1 is not looked at");
    }
    let (_, whole) = page(&scratch, &["fleet"]);
    let (_, all) = page(&scratch, &["fleet", "--clusters", "eu-*", "--clusters", "us-1"]);
    assert_eq!(whole, all);
}

/// The fleet has a cluster with a local policy, one with an overlay, and one as the hub is: that one is the usual.
#[test]
fn an_overlay_makes_its_clusters_exceptions_and_has_a_row_of_its_own() {
    let scratch = Scratch::new();
    copy(&fixtures().join("../examples/fleet"), &scratch.path("fleet"));
    let (_, data) = page(&scratch, &["fleet"]);
    let on_eu_2 = |row: &&Value| {
        data["sets"][index(number(&row["clusters"]))] == serde_json::from_str::<Value>("[1,1]").expect("JSON")
    };
    let [overlay] = list(&data, "overlays") else {
        panic!("{}", data["overlays"]);
    };
    assert!(on_eu_2(&overlay), "{overlay}");
    assert_eq!(
        overlay["overlay"],
        "clusteroverlay.spokewright.dev:shop/eu-2-sale"
    );
    assert_eq!(overlay["object"], "ratelimitpolicy.kuadrant.io:shop/api-burst");
    assert_eq!(
        data["files"][index(number(&overlay["at"][0]))],
        "hub/shop/overlay.yaml"
    );
    let limit = |outcome: &Value| {
        let settings = list(&data["outcomes"][index(number(outcome))], "set");
        let reads = settings
            .iter()
            .find(|setting| setting[0] == "reads")
            .expect("reads");
        data["values"][index(number(&reads[1]))]["rates"][0]["limit"].clone()
    };
    let exceptions = list(&data, "exceptions").iter().filter(on_eu_2);
    let limits: Vec<[Value; 2]> = exceptions
        .map(|row| [limit(&row["old"]), limit(&row["new"])])
        .collect();
    assert_eq!(limits, [[Value::from(200), Value::from(50)]]);
}
