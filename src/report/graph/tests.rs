//! Labels are escaped whatever they contain; similar nodes are grouped, in order, and nothing gets lost.

use proptest::prelude::*;

use super::{Edge, Graph, Layer, Link, State, Vertex, dot_escaped, lines, mermaid_escaped};

impl Graph {
    fn add(&mut self, vertex: Vertex) -> usize {
        self.vertices.push(vertex);
        self.vertices.len().saturating_sub(1)
    }

    fn link(&mut self, from: usize, to: usize, link: Link, label: Option<String>) {
        self.edges.push(Edge {
            from,
            to,
            link,
            label,
        });
    }
}

/// Gateways of one class, each with listeners and as many routes on each listener, on all clusters; a policy on each
/// first route.
fn fleet(gateways: usize, listeners: usize, routes: usize, clusters: usize) -> Graph {
    let mut graph = Graph::default();
    let class = graph.add(Vertex::new(Layer::Class, "GatewayClass", "multi"));
    let mut tops = Vec::new();
    for gateway in 0..gateways {
        let top = graph.add(Vertex::new(Layer::Gateway, "Gateway", format!("shop/g{gateway}")));
        graph.link(class, top, Link::Leads, None);
        tops.push(top);
        for listener in 0..listeners {
            let below = graph.add(Vertex::new(Layer::Listener, "listener", format!("l{listener}")));
            graph.link(top, below, Link::Leads, None);
            for route in 0..routes {
                let name = format!("shop/r{gateway}-{listener}-{route}");
                let route = graph.add(Vertex::new(Layer::Route, "HTTPRoute", name.clone()));
                graph.link(below, route, Link::Leads, None);
                let mut policy = Vertex::new(Layer::Policy, "RateLimitPolicy", name);
                policy.state = State::Holds;
                policy.note = "Enforced".to_owned();
                let policy = graph.add(policy);
                graph.link(policy, route, Link::Targets, Some("rule-1".to_owned()));
            }
        }
    }
    for cluster in 0..clusters {
        let cluster = graph.add(Vertex::new(Layer::Cluster, "cluster", format!("c{cluster}")));
        for top in &tops {
            graph.link(*top, cluster, Link::Leads, None);
        }
    }
    graph.tidy();
    graph
}

fn count(graph: &Graph, part: Layer) -> (usize, usize) {
    let of_part = graph.vertices.iter().filter(|vertex| vertex.part == part);
    of_part.fold((0, 0), |(nodes, things), vertex| {
        (nodes + 1, things + vertex.names.len())
    })
}

#[test]
fn what_can_be_read_is_left_alone() {
    let mut graph = fleet(2, 2, 2, 3);
    let before = graph.clone();
    assert!(!graph.collapse());
    assert_eq!(graph, before);
}

#[test]
fn clusters_are_counted_first_then_routes_then_listeners_then_policies_then_gateways() {
    let whole = fleet(5, 3, 2, 40);
    let parts = [
        Layer::Cluster,
        Layer::Route,
        Layer::Listener,
        Layer::Policy,
        Layer::Gateway,
    ];
    let expected = [
        (82, [1, 30, 15, 30, 5]),
        (57, [1, 5, 15, 30, 5]),
        (47, [1, 5, 5, 30, 5]),
        (22, [1, 5, 5, 5, 5]),
        (6, [1, 1, 1, 1, 1]),
    ];
    for (limit, by_part) in expected {
        let mut graph = whole.clone();
        assert!(graph.collapse_to(limit, usize::MAX));
        assert_eq!(graph.nodes(), limit);
        assert_eq!(parts.map(|part| count(&graph, part).0), by_part);
        for part in parts {
            assert_eq!(count(&graph, part).1, count(&whole, part).1, "{part:?} got lost");
        }
    }
}

#[test]
fn clusters_of_different_gateways_stay_apart() {
    let mut graph = fleet(2, 1, 1, 3);
    graph
        .edges
        .retain(|edge| !(edge.from == 1 && graph.vertices[edge.to].names == ["c2"]));
    graph.collapse_to(graph.nodes() - 1, usize::MAX);
    let labels: Vec<String> = graph
        .vertices
        .iter()
        .filter(|vertex| vertex.part == Layer::Cluster)
        .flat_map(lines)
        .collect();
    assert_eq!(labels, ["2 clusters: c0, c1", "cluster c2"]);
}

#[test]
fn policies_of_different_state_stay_apart() {
    let mut graph = fleet(1, 1, 4, 1);
    let refused = graph
        .vertices
        .iter()
        .position(|vertex| vertex.part == Layer::Policy)
        .unwrap();
    graph.vertices[refused].state = State::Refused;
    graph.collapse_to(1, usize::MAX);
    assert_eq!(count(&graph, Layer::Policy), (2, 4));
}

#[test]
fn too_many_edges_are_a_reason_to_count_as_well() {
    let mut graph = fleet(20, 0, 0, 20);
    assert!(graph.nodes() <= super::MOST_NODES);
    assert!(graph.collapse());
    assert!(graph.edges() <= super::MOST_EDGES);
}

#[test]
fn a_counted_node_names_three_and_counts_the_rest() {
    let mut graph = fleet(1, 1, 9, 1);
    graph.collapse_to(12, usize::MAX);
    let route = graph.vertices.iter().find(|vertex| vertex.part == Layer::Route);
    assert_eq!(
        lines(route.unwrap()),
        ["9 HTTPRoutes: shop/r0-0-0, shop/r0-0-1, shop/r0-0-2 and 6 more"]
    );
}

#[test]
fn the_section_of_a_target_goes_when_the_target_is_counted() {
    let mut graph = fleet(1, 1, 9, 1);
    assert!(graph.mermaid().contains("-.->|\"section rule-1\"|"));
    graph.collapse_to(12, usize::MAX);
    assert!(!graph.mermaid().contains("rule-1"));
}

#[test]
fn what_a_label_must_not_hold_is_escaped() {
    assert_eq!(
        mermaid_escaped("a\"]|<b>#end;`é"),
        "a#34;#93;#124;#60;b#62;#35;end#59;#96;é"
    );
    assert_eq!(dot_escaped(r#"a"\N<b>&lt;é"#), r#"a\"\\N<b>&amp;lt;é"#);
}

fn one(name: &str, section: &str) -> Graph {
    let mut graph = Graph::default();
    let mut vertex = Vertex::new(Layer::Policy, name, name);
    vertex.note = name.to_owned();
    vertex.state = State::Holds;
    let from = graph.add(vertex);
    let to = graph.add(Vertex::new(Layer::Route, "HTTPRoute", name));
    graph.link(from, to, Link::Targets, Some(section.to_owned()));
    graph
}

/// The text with every quoted string taken out of it; `None` when a quote stays open.
fn skeleton(text: &str, backslash_escapes: bool) -> Option<String> {
    let mut skeleton = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        skeleton.push(character);
        if character == '"' {
            loop {
                match characters.next()? {
                    '"' => break,
                    '\\' if backslash_escapes => {
                        characters.next()?;
                    }
                    _ => {}
                }
            }
            skeleton.push('"');
        }
    }
    Some(skeleton)
}

proptest! {
    #[test]
    fn no_name_changes_anything_outside_of_its_label(
        name in "([\"\\\\|<>&#;`{}()\\[\\]\n\r%-]|end|é|\u{202e}|\u{0}|\\PC){0,12}",
        section in "\\PC{0,8}|[\"\\\\|\n]{0,6}",
    ) {
        let (plain, odd) = (one("x", "y"), one(&name, &section));
        prop_assert_eq!(skeleton(&plain.mermaid(), false), skeleton(&odd.mermaid(), false));
        prop_assert_eq!(skeleton(&plain.dot(), true), skeleton(&odd.dot(), true));
        prop_assert_eq!(plain.mermaid().lines().count(), odd.mermaid().lines().count());
        prop_assert_eq!(plain.dot().lines().count(), odd.dot().lines().count());
    }

    #[test]
    fn counting_never_loses_or_invents_a_thing(
        (gateways, listeners, routes, clusters) in (0_usize..5, 0_usize..4, 0_usize..4, 0_usize..6),
        limit in 0_usize..40,
    ) {
        let whole = fleet(gateways, listeners, routes, clusters);
        let mut graph = whole.clone();
        graph.collapse_to(limit, usize::MAX);
        for part in [Layer::Class, Layer::Gateway, Layer::Listener, Layer::Route, Layer::Policy, Layer::Cluster] {
            prop_assert_eq!(count(&graph, part).1, count(&whole, part).1);
        }
        for edge in &graph.edges {
            prop_assert!(edge.from < graph.nodes() && edge.to < graph.nodes() && edge.from != edge.to);
        }
        prop_assert!(graph.nodes() <= whole.nodes());
    }
}
