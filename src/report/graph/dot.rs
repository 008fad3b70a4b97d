//! A graph in Graphviz's DOT language.
//!
//! Owns: shapes, styles and escaping of DOT. Flows in: a [`Graph`]. Flows out: text.
//! Must not know: what nodes mean beyond their part and state.

use std::fmt::Write as _;

use super::{Graph, Layer, Link, State, id};

impl Graph {
    /// A digraph, for `dot -Tsvg`.
    pub fn dot(&self) -> String {
        let mut text = String::from(
            "digraph spokewright {\n  graph [rankdir=LR, charset=\"UTF-8\"]\n  \
             node [fontname=\"Helvetica\", fontcolor=\"#1f2328\"]\n  edge [fontname=\"Helvetica\", color=\"#57606a\"]\n",
        );
        for (position, vertex) in self.vertices.iter().enumerate() {
            let lines: Vec<String> = vertex.lines().iter().map(|line| escaped(line)).collect();
            let (fill, line) = vertex.state.colours();
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
                shape(vertex.part)
            );
        }
        for edge in &self.edges {
            let mut attributes = Vec::new();
            if edge.link == Link::Targets {
                attributes.push("style=dashed".to_owned());
            }
            if let Some(label) = &edge.label {
                attributes.push(format!("label=\"section {}\"", escaped(&super::shown(label))));
            }
            let attributes = if attributes.is_empty() {
                String::new()
            } else {
                format!(" [{}]", attributes.join(", "))
            };
            let _ = writeln!(text, "  {} -> {}{attributes}", id(edge.from), id(edge.to));
        }
        text.push_str("}\n");
        text
    }
}

const fn shape(part: Layer) -> &'static str {
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
pub(super) fn escaped(text: &str) -> String {
    // `shown` has replaced line ends; a raw one would be one in the label, too.
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('&', "&amp;").replace(['\n', '\r'], " ")
}
