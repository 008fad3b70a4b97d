//! `graph`: what is attached to what, as nodes and edges. The [`AttachmentGraph`] has everything. Here it is reduced to a
//! part ([`Only`]), similar nodes are collapsed until it is small enough to read, and it is written for mermaid or Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use apimachinery::named_parts;

use crate::diagnostic::{Code, Finding, Place, first_names, one_line, plural};
use crate::outcome::PolicyView;
use crate::outcome::attachment_graph::{AttachmentGraph, Edge, Layer, Link, State, Vertex};

/// At most so many characters of one name are drawn: as many as a name may have, and its namespace.
const MOST_OF_A_NAME: usize = 320;

/// At most so many names of a counted node are listed.
const MOST_NAMES: usize = 3;

/// What a picture is made of. Nodes are known by their position; equal inputs give equal graphs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    vertices: Vec<Vertex>,
    /// Sorted, each once.
    edges: Vec<Edge>,
}

/// A name for style sheets, of which none is a word of mermaid's or of DOT's; fill and line. Dark text is readable on
/// every fill; the state is in words too, for readers who see no colors.
const fn style(state: State) -> (&'static str, &'static str, &'static str) {
    match state {
        State::Plain => ("plain", "#ffffff", "#57606a"),
        State::Aside => ("aside", "#f6f8fa", "#afb8c1"),
        State::Holds => ("holds", "#d3f2d3", "#1a7f37"),
        State::Partial => ("partial", "#fff3c4", "#9a6700"),
        State::Overridden => ("overridden", "#dfe3e8", "#57606a"),
        State::Refused => ("refused", "#ffd8d3", "#cf222e"),
        State::NotSynced => ("notSynced", "#e8dcff", "#8250df"),
        State::NoPath => ("noPath", "#ffffff", "#8c959f"),
    }
}

/// The lines of the label, printable but not escaped. No line begins with text of the input: readers that take
/// a label for Markdown find no list and no heading in it.
fn lines(vertex: &Vertex) -> Vec<String> {
    let kind = shown(&vertex.kind);
    let first = match vertex.names.as_slice() {
        [] => kind,
        [name] => format!("{kind} {}", shown(name)),
        several => {
            let distinct: BTreeSet<&String> = several.iter().collect();
            let names = first_names(distinct.into_iter().map(|name| shown(name)), MOST_NAMES);
            format!("{} {}: {names}", several.len(), plural(&kind))
        }
    };
    let note = Some(&vertex.note).filter(|note| !note.is_empty());
    [first].into_iter().chain(note.map(|note| shown(note))).collect()
}

/// So many edges from Gateways to clusters are drawn: more is nothing that any program lays out.
const MOST_DRAWN: usize = 200_000;

impl Graph {
    /// Everything that the view knows; for one cluster, what goes there or lives there. `admits` leaves out clusters,
    /// and Gateways that go only to those. Clusters that receive the same Gateways are one node if a node for each
    /// would have more edges than anybody can follow, unless each shall have one (`with_each_cluster`).
    ///
    /// # Errors
    /// If a node for each cluster would be too much.
    pub fn new(
        view: &PolicyView<'_>,
        admits: impl Fn(&str) -> bool,
        with_each_cluster: bool,
    ) -> Result<Self, Box<Finding>> {
        let Some(graph) = AttachmentGraph::new(view, &admits) else {
            return Ok(Self::default());
        };
        match graph.drawn() {
            edges if with_each_cluster && edges > MOST_DRAWN => Err(Box::new(too_many(edges))),
            edges => {
                let (vertices, edges) = graph.build(!with_each_cluster && edges > MOST_EDGES);
                Ok(Self { vertices, edges })
            }
        }
    }
}

fn too_many(edges: usize) -> Finding {
    let message = format!(
        "the graph would have {edges} edges from Gateways to clusters; at most {MOST_DRAWN} are drawn"
    );
    Finding::new(Code::INPUT_TOO_COSTLY, Place::Run, message)
        .note("without `--all`, clusters that receive the same Gateways are one node")
        .help("leave out `--all`, or draw one cluster (`--cluster NAME`) or some (`--clusters 'eu-*'`)")
}

impl Graph {
    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.vertices.len()
    }

    /// How many things they stand for.
    pub fn things(&self) -> usize {
        let things = self.vertices.iter().map(|vertex| vertex.names.len());
        things.fold(0, usize::saturating_add)
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    fn tidy(&mut self) {
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    fn part(&self, position: usize) -> Option<Layer> {
        self.vertices.get(position).map(|vertex| vertex.part)
    }

    /// States that occur and have a color.
    fn states(&self) -> BTreeSet<State> {
        let states = self.vertices.iter().map(|vertex| vertex.state);
        states.filter(|state| *state != State::Plain).collect()
    }
}

fn shown(text: &str) -> String {
    one_line(text, MOST_OF_A_NAME)
}

/// The node's name in the text: nothing of the input can be there.
fn id(position: usize) -> String {
    format!("n{}", position.saturating_add(1))
}

/// The part that a picture shows, by the name of an object, ignoring case in the kind. A namespace
/// represents everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    kind: String,
    name: String,
}

impl Only {
    /// Reads the name of an object, or of a cluster.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, namespace, name) = named_parts(text)?;
        let namespace = namespace.map(|namespace| format!("{namespace}/"));
        Some(Self {
            // A group in the text does not distinguish nodes.
            kind: kind.split('.').next().unwrap_or(kind).to_lowercase(),
            name: namespace.unwrap_or_default() + name,
        })
    }

    fn means(&self, vertex: &Vertex) -> bool {
        let mut names = vertex.names.iter();
        if self.kind == "namespace" {
            let mut namespaces = names.filter_map(|name| name.split_once('/'));
            return namespaces.any(|(namespace, _)| namespace == self.name);
        }
        let is_named = |name: &String| *name == self.name || name.rsplit('/').next() == Some(&self.name);
        vertex.kind.to_lowercase() == self.kind && names.any(is_named)
    }
}

impl Graph {
    /// Keeps what belongs to any of these: it, what it is attached to, what is attached to it, and the policies there.
    /// Whether there is any such thing.
    pub fn narrow(&mut self, wanted: &[Only]) -> bool {
        let meant = self.vertices.iter().enumerate();
        let meant = meant.filter(|(_, vertex)| wanted.iter().any(|only| only.means(vertex)));
        let mut seeds: BTreeSet<usize> = meant.map(|(position, _)| position).collect();
        if seeds.is_empty() {
            return false;
        }
        // A policy stands for its targets, a cluster for the objects that go there.
        let related = self.edges.iter().filter_map(|edge| match edge.link {
            Link::Targets if seeds.contains(&edge.from) => Some(edge.to),
            Link::Leads if seeds.contains(&edge.to) && self.part(edge.to) == Some(Layer::Cluster) => {
                Some(edge.from)
            }
            _ => None,
        });
        let related: Vec<usize> = related.collect();
        seeds.extend(related);
        let mut kept = seeds.clone();
        self.spread(&mut kept, |edge| (edge.from, edge.to));
        let mut above = seeds;
        self.spread(&mut above, |edge| (edge.to, edge.from));
        kept.extend(above);
        let policies = self.edges.iter();
        let policies = policies.filter(|edge| edge.link == Link::Targets && kept.contains(&edge.to));
        let policies: Vec<usize> = policies.map(|edge| edge.from).collect();
        kept.extend(policies);
        self.keep(&kept);
        true
    }

    /// Adds the far end of every edge whose near end is kept, until there is none.
    fn spread(&self, kept: &mut BTreeSet<usize>, ends: impl Fn(&Edge) -> (usize, usize)) {
        let leads = self.edges.iter().filter(|edge| edge.link == Link::Leads);
        let leads: Vec<(usize, usize)> = leads.map(ends).collect();
        loop {
            let before = kept.len();
            for (near, far) in &leads {
                if kept.contains(near) {
                    kept.insert(*far);
                }
            }
            if kept.len() == before {
                return;
            }
        }
    }

    fn keep(&mut self, kept: &BTreeSet<usize>) {
        let position = |old: usize| kept.contains(&old).then(|| kept.range(..old).count());
        let edges = self.edges.drain(..).filter_map(|edge| {
            Some(Edge {
                from: position(edge.from)?,
                to: position(edge.to)?,
                ..edge
            })
        });
        let edges: Vec<Edge> = edges.collect();
        self.edges = edges;
        let mut positions = 0_usize..;
        self.vertices
            .retain(|_| positions.next().is_some_and(|old| kept.contains(&old)));
    }
}

/// A graph with more nodes is too large to read.
const MOST_NODES: usize = 60;

/// A graph with more edges is too large to follow. Mermaid by itself refuses more than 500.
const MOST_EDGES: usize = 200;

/// The nodes that are counted instead of drawn, one sort after the other, until the rest is readable.
const STEPS: [fn(&mut Graph); 6] = [
    // Clusters that receive the same Gateways.
    |graph| graph.fold_by_gateways(&[Layer::Cluster]),
    // Routes of one Gateway, and the backends behind them.
    |graph| graph.fold_by_gateways(&[Layer::Route, Layer::Backend]),
    // Its listeners.
    |graph| graph.fold_by_gateways(&[Layer::ListenerSet, Layer::Listener]),
    // Policies of one kind and state on the same targets.
    Graph::fold_policies,
    // Gateways of one class that go to the same clusters.
    |graph| graph.fold_gateways(true),
    // Gateways of one class.
    |graph| graph.fold_gateways(false),
];

/// What a node has to have in common with one of its part: its kind, its state, and that in words.
type Alike = (String, State, String);

/// A node, and the section of it that a policy targets.
type Neighbour = (usize, Option<String>);

impl Graph {
    /// Counts what is alike until at most 60 nodes and 200 edges are left, or nothing more can be counted.
    /// Whether anything is.
    pub fn collapse(&mut self) -> bool {
        self.collapse_to(MOST_NODES, MOST_EDGES)
    }

    fn collapse_to(&mut self, nodes: usize, edges: usize) -> bool {
        for step in STEPS {
            if self.vertices.len() <= nodes && self.edges.len() <= edges {
                break;
            }
            step(self);
        }
        self.nodes() < self.things()
    }

    /// One node for those of a part that are attached to, or receive, the same Gateways.
    fn fold_by_gateways(&mut self, layers: &[Layer]) {
        for layer in layers {
            let gateways = self.gateways();
            self.fold(*layer, gateways, |_| (String::new(), State::Plain, String::new()));
        }
    }

    fn fold_policies(&mut self) {
        let targets = self.neighbours(|edge| {
            (edge.link == Link::Targets).then(|| (edge.from, (edge.to, edge.label.clone())))
        });
        self.fold(Layer::Policy, targets, alike);
    }

    /// One node for the Gateways of a class, or for those among them that go to the same clusters; then everything
    /// that has become alike by that.
    fn fold_gateways(&mut self, by_clusters: bool) {
        let is = |position: usize, part: Layer| self.part(position) == Some(part);
        let around = self.neighbours(|edge| {
            if is(edge.to, Layer::Gateway) && is(edge.from, Layer::Class) {
                Some((edge.to, (edge.from, None)))
            } else if by_clusters && is(edge.from, Layer::Gateway) && is(edge.to, Layer::Cluster) {
                Some((edge.from, (edge.to, None)))
            } else {
                None
            }
        });
        self.fold(Layer::Gateway, around, alike);
        let layers = [
            Layer::ListenerSet,
            Layer::Listener,
            Layer::Route,
            Layer::Backend,
            Layer::Cluster,
        ];
        self.fold_by_gateways(&layers);
        let below =
            self.neighbours(|edge| (edge.link == Link::Leads).then_some((edge.from, (edge.to, None))));
        self.fold(Layer::Namespace, below, alike);
        self.fold_policies();
    }

    /// For each node what the edges that count add to it, sorted, each once.
    fn neighbours(&self, of: impl FnMut(&Edge) -> Option<(usize, Neighbour)>) -> Vec<BTreeSet<Neighbour>> {
        let mut found = vec![BTreeSet::new(); self.vertices.len()];
        for (position, neighbour) in self.edges.iter().filter_map(of) {
            if let Some(around) = found.get_mut(position) {
                around.insert(neighbour);
            }
        }
        found
    }

    /// The Gateways above each node, sorted.
    fn gateways(&self) -> Vec<BTreeSet<Neighbour>> {
        let vertices = self.vertices.iter().enumerate();
        let itself = vertices.map(|(position, vertex)| {
            let gateway = (vertex.part == Layer::Gateway).then_some((position, None));
            gateway.into_iter().collect()
        });
        let mut above: Vec<BTreeSet<Neighbour>> = itself.collect();
        for part in [Layer::Gateway, Layer::ListenerSet, Layer::Listener, Layer::Route] {
            for edge in &self.edges {
                if edge.link != Link::Leads || self.part(edge.from) != Some(part) {
                    continue;
                }
                let from = above.get(edge.from).cloned().unwrap_or_default();
                if let Some(list) = above.get_mut(edge.to) {
                    list.extend(from);
                }
            }
        }
        above
    }

    /// One node for those of a part that have the same things around them and are `alike`. It is where the first of them
    /// stood.
    fn fold(&mut self, part: Layer, around: Vec<BTreeSet<Neighbour>>, alike: impl Fn(&Vertex) -> Alike) {
        let mut first_of: BTreeMap<(Alike, BTreeSet<Neighbour>), usize> = BTreeMap::new();
        let mut moved: Vec<usize> = Vec::with_capacity(self.vertices.len());
        let mut kept: Vec<Vertex> = Vec::with_capacity(self.vertices.len());
        for (vertex, around) in std::mem::take(&mut self.vertices).into_iter().zip(around) {
            let key = (vertex.part == part).then(|| (alike(&vertex), around));
            let known = key.as_ref().and_then(|key| first_of.get(key)).copied();
            match known.and_then(|known| Some((known, kept.get_mut(known)?))) {
                Some((known, first)) => {
                    first.names.extend_from_slice(&vertex.names);
                    if first.kind != vertex.kind {
                        // Routes of several kinds.
                        let kind = if part == Layer::Route { "route" } else { "object" };
                        kind.clone_into(&mut first.kind);
                    }
                    moved.push(known);
                }
                None => {
                    if let Some(key) = key {
                        first_of.insert(key, kept.len());
                    }
                    moved.push(kept.len());
                    kept.push(vertex);
                }
            }
        }
        let to = |old: usize| moved.get(old).copied().unwrap_or(usize::MAX);
        for edge in &mut self.edges {
            (edge.from, edge.to) = (to(edge.from), to(edge.to));
            // A rule of one among several routes is no longer that rule.
            if kept.get(edge.to).is_some_and(|vertex| vertex.names.len() > 1) {
                edge.label = None;
            }
        }
        self.vertices = kept;
        self.tidy();
    }
}

fn alike(vertex: &Vertex) -> Alike {
    (vertex.kind.clone(), vertex.state, vertex.note.clone())
}

impl Graph {
    /// A mermaid flowchart, which GitHub and GitLab draw in a fenced block.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (position, vertex) in self.vertices.iter().enumerate() {
            let (open, close) = mermaid_shape(vertex.part);
            let lines: Vec<String> = lines(vertex).iter().map(|line| mermaid_escaped(line)).collect();
            let _ = writeln!(text, "  {}{open}\"{}\"{close}", id(position), lines.join("<br/>"));
        }
        for edge in &self.edges {
            let arrow = match edge.link {
                Link::Leads => "-->",
                Link::Targets => "-.->",
            };
            let label = edge.label.as_ref().map_or_else(String::new, |label| {
                format!("|\"{}\"|", mermaid_escaped(&format!("section {}", shown(label))))
            });
            let _ = writeln!(text, "  {} {arrow}{label} {}", id(edge.from), id(edge.to));
        }
        for state in self.states() {
            let (name, fill, line) = style(state);
            let dashes = match state {
                State::NoPath | State::Aside => ",stroke-dasharray:4 3",
                _ => "",
            };
            let _ = writeln!(
                text,
                "  classDef {name} fill:{fill},stroke:{line},color:#1f2328{dashes}"
            );
            let vertices = self.vertices.iter().enumerate();
            let members = vertices.filter(|(_, vertex)| vertex.state == state);
            let members: Vec<String> = members.map(|(position, _)| id(position)).collect();
            let _ = writeln!(text, "  class {} {name}", members.join(","));
        }
        text
    }
}

const fn mermaid_shape(part: Layer) -> (&'static str, &'static str) {
    match part {
        Layer::Class => ("{{", "}}"),
        Layer::Namespace | Layer::Gateway => ("[", "]"),
        Layer::ListenerSet | Layer::Listener => ("([", "])"),
        Layer::Route | Layer::Backend => ("(", ")"),
        Layer::Policy => (">", "]"),
        Layer::Cluster => ("[(", ")]"),
    }
}

/// Everything but letters, digits and what is in ordinary names is written by its number: `#34;` is `"`.
/// Mermaid knows no other escape.
fn mermaid_escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_alphanumeric() || matches!(character, ' ' | '.' | ',' | ':' | '/' | '-') {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    escaped
}

impl Graph {
    /// A digraph, for `dot -Tsvg`.
    pub fn dot(&self) -> String {
        let mut text = String::from(
            "digraph spokewright {\n  graph [rankdir=LR, charset=\"UTF-8\"]\n  \
             node [fontname=\"Helvetica\", fontcolor=\"#1f2328\"]\n  edge [fontname=\"Helvetica\", color=\"#57606a\"]\n",
        );
        for (position, vertex) in self.vertices.iter().enumerate() {
            let lines: Vec<String> = lines(vertex).iter().map(|line| dot_escaped(line)).collect();
            let (_, fill, line) = style(vertex.state);
            let style = match (vertex.state, vertex.part) {
                (State::NoPath | State::Aside, _) => "filled,dashed",
                (_, Layer::Listener | Layer::ListenerSet | Layer::Route | Layer::Backend) => "filled,rounded",
                _ => "filled",
            };
            let _ = writeln!(
                text,
                "  {} [label=\"{}\", shape={}, style=\"{style}\", fillcolor=\"{fill}\", color=\"{line}\"]",
                id(position),
                lines.join("\\n"),
                dot_shape(vertex.part)
            );
        }
        for edge in &self.edges {
            let dashed = (edge.link == Link::Targets).then(|| "style=dashed".to_owned());
            let label = edge.label.as_ref();
            let label = label.map(|label| format!("label=\"section {}\"", dot_escaped(&shown(label))));
            let attributes: Vec<String> = dashed.into_iter().chain(label).collect();
            let attributes = match attributes.as_slice() {
                [] => String::new(),
                attributes => format!(" [{}]", attributes.join(", ")),
            };
            let _ = writeln!(text, "  {} -> {}{attributes}", id(edge.from), id(edge.to));
        }
        text.push_str("}\n");
        text
    }
}

const fn dot_shape(part: Layer) -> &'static str {
    match part {
        Layer::Class => "hexagon",
        Layer::Namespace => "tab",
        Layer::Gateway | Layer::Listener | Layer::ListenerSet | Layer::Route | Layer::Backend => "box",
        Layer::Policy => "note",
        Layer::Cluster => "cylinder",
    }
}

/// Text inside a quoted string. A backslash would begin an escape such as `\N`, the node's name; an ampersand an HTML
/// entity, which Graphviz reads in every label.
fn dot_escaped(text: &str) -> String {
    // `shown` has replaced line ends; a raw one would be one in the label, too.
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('&', "&amp;").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
