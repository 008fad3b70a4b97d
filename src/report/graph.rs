//! `graph`: what is attached to what, as nodes and edges.
//!
//! Owns: the nodes and edges of a picture ([`Graph`]), and what is written on a node.
//! Flows in: evaluated policies and the hub (`build`). Flows out: text for mermaid or Graphviz.
//! Must not know: the command line, files, or how anything was decided.

mod build;
mod collapse;
mod dot;
mod mermaid;
mod only;
#[cfg(test)]
mod tests;

pub use only::Only;

use crate::diagnostic::{first_names, one_line, plural};

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

/// What a node is, from the top of the hierarchy down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Class,
    Namespace,
    Gateway,
    ListenerSet,
    Listener,
    Route,
    Backend,
    Policy,
    Cluster,
}

/// How a node is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// As its part of the hierarchy is.
    Plain,
    /// Of another controller's class: it is not rendered.
    Aside,
    /// A policy all of which holds.
    Holds,
    /// A policy some of which lost somewhere.
    Partial,
    /// A policy nothing of which holds.
    Overridden,
    /// A policy that is not accepted.
    Refused,
    /// A policy whose kind the class does not sync.
    NotSynced,
    /// A policy that is on no path.
    NoPath,
}

impl State {
    /// Every state that has a color.
    const COLOURED: [Self; 7] = [
        Self::Aside,
        Self::Holds,
        Self::Partial,
        Self::Overridden,
        Self::Refused,
        Self::NotSynced,
        Self::NoPath,
    ];

    /// A name for style sheets. None of them is a word of mermaid's or of DOT's.
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Aside => "aside",
            Self::Holds => "holds",
            Self::Partial => "partial",
            Self::Overridden => "overridden",
            Self::Refused => "refused",
            Self::NotSynced => "notSynced",
            Self::NoPath => "noPath",
        }
    }

    /// Fill and line. Dark text is readable on every fill; the state is in words too, for readers who see no colors.
    const fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Plain => ("#ffffff", "#57606a"),
            Self::Aside => ("#f6f8fa", "#afb8c1"),
            Self::Holds => ("#d3f2d3", "#1a7f37"),
            Self::Partial => ("#fff3c4", "#9a6700"),
            Self::Overridden => ("#dfe3e8", "#57606a"),
            Self::Refused => ("#ffd8d3", "#cf222e"),
            Self::NotSynced => ("#e8dcff", "#8250df"),
            Self::NoPath => ("#ffffff", "#8c959f"),
        }
    }
}

/// A node: one thing, or several that are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Vertex {
    part: Layer,
    /// The kind in words: `HTTPRoute`, `listener`, `cluster`.
    what: String,
    /// `namespace/name` of each thing that it stands for.
    names: Vec<String>,
    state: State,
    /// A second line: the state in words.
    note: String,
}

impl Vertex {
    fn new(part: Layer, what: &str, name: impl Into<String>) -> Self {
        Self {
            part,
            what: what.to_owned(),
            names: vec![name.into()],
            state: State::Plain,
            note: String::new(),
        }
    }

    /// The lines of the label, printable but not escaped. No line begins with text of the input: readers that take
    /// a label for Markdown find no list and no heading in it.
    fn lines(&self) -> Vec<String> {
        let what = shown(&self.what);
        let first = match self.names.as_slice() {
            [] => what,
            [name] => format!("{what} {}", shown(name)),
            several => {
                let mut distinct: Vec<&String> = several.iter().collect();
                distinct.sort_unstable();
                distinct.dedup();
                let names = distinct.iter().map(|name| shown(name));
                format!(
                    "{} {}: {}",
                    several.len(),
                    plural(&what),
                    first_names(names, MOST_NAMES)
                )
            }
        };
        let mut lines = vec![first];
        if !self.note.is_empty() {
            lines.push(shown(&self.note));
        }
        lines
    }
}

/// From one node to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    link: Link,
    /// The section that a policy targets, where it is no node of its own.
    label: Option<String>,
}

/// What an edge means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// The second is attached to the first, or goes there.
    Leads,
    /// The policy is attached there.
    Targets,
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

    fn tidy(&mut self) {
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    fn part(&self, position: usize) -> Option<Layer> {
        self.vertices.get(position).map(|vertex| vertex.part)
    }

    /// States that occur and have a color, in their order.
    fn states(&self) -> Vec<State> {
        State::COLOURED
            .into_iter()
            .filter(|state| self.vertices.iter().any(|vertex| vertex.state == *state))
            .collect()
    }
}

fn shown(text: &str) -> String {
    one_line(text, MOST_OF_A_NAME)
}

/// The node's name in the text: nothing of the input can be there.
fn id(position: usize) -> String {
    format!("n{}", position.saturating_add(1))
}
