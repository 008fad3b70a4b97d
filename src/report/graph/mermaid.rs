//! A graph as a mermaid flowchart.
//!
//! Owns: shapes, styles and escaping of mermaid. Flows in: a [`Graph`]. Flows out: text.
//! Must not know: what nodes mean beyond their part and state.

use std::fmt::Write as _;

use super::{Graph, Layer, Link, id};

impl Graph {
    /// A mermaid flowchart, which GitHub and GitLab draw in a fenced block.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (position, vertex) in self.vertices.iter().enumerate() {
            let (open, close) = shape(vertex.part);
            let lines: Vec<String> = vertex.lines().iter().map(|line| escaped(line)).collect();
            let _ = writeln!(text, "  {}{open}\"{}\"{close}", id(position), lines.join("<br/>"));
        }
        for edge in &self.edges {
            let arrow = match edge.link {
                Link::Leads => "-->",
                Link::Targets => "-.->",
            };
            let label = edge
                .label
                .as_ref()
                .map(|label| format!("|\"{}\"|", escaped(&format!("section {}", super::shown(label)))))
                .unwrap_or_default();
            let _ = writeln!(text, "  {} {arrow}{label} {}", id(edge.from), id(edge.to));
        }
        for state in self.states() {
            let (fill, line) = state.colours();
            let dashes = match state {
                super::State::NoPath | super::State::Aside => ",stroke-dasharray:4 3",
                _ => "",
            };
            let name = state.name();
            let _ = writeln!(
                text,
                "  classDef {name} fill:{fill},stroke:{line},color:#1f2328{dashes}"
            );
            let members: Vec<String> = self
                .vertices
                .iter()
                .enumerate()
                .filter(|(_, vertex)| vertex.state == state)
                .map(|(position, _)| id(position))
                .collect();
            let _ = writeln!(text, "  class {} {name}", members.join(","));
        }
        text
    }
}

const fn shape(part: Layer) -> (&'static str, &'static str) {
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
pub(super) fn escaped(text: &str) -> String {
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
