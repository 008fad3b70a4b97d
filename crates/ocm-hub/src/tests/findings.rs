//! Findings and texts that the tests of all formats share.

use std::collections::BTreeMap;

use kube_json::Text;

use crate::diagnostic::{Code, DocumentId, Finding, Findings, Locate, Part, Place, SourceId, Span};

/// Files in memory. Fields are found by a table: pointer to the text that is there.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    files: Vec<(String, String)>,
    fields: BTreeMap<(DocumentId, Text), (usize, usize)>,
}

impl Texts {
    pub(crate) fn file(&mut self, path: &str, text: &str) -> SourceId {
        self.files.push((path.to_owned(), text.to_owned()));
        SourceId(u32::try_from(self.files.len() - 1).unwrap())
    }

    /// The place of the first occurrence of `needle`.
    pub(crate) fn text(&self, source: SourceId, needle: &str) -> Place {
        let start = self.files[source.0 as usize]
            .1
            .find(needle)
            .expect("the needle is there");
        Place::Text {
            source,
            start,
            end: start + needle.len(),
        }
    }

    /// A field whose value is the first occurrence of `needle`.
    pub(crate) fn field(&mut self, source: SourceId, index: u32, pointer: &str, needle: &str) -> Place {
        let Place::Text { start, end, .. } = self.text(source, needle) else {
            unreachable!()
        };
        let document = DocumentId { source, index };
        self.fields.insert((document, pointer.into()), (start, end));
        Place::Field {
            document,
            pointer: pointer.into(),
            part: Part::Value,
        }
    }
}

impl Locate for Texts {
    fn locate(&self, place: &Place) -> Option<Span<'_>> {
        let (source, (start, end)) = match place {
            Place::Text { source, start, end } => (*source, (*start, *end)),
            Place::Embedded { .. } => return None,
            // The whole of a document, which begins with the first of its fields.
            Place::Field {
                document, pointer, ..
            } if pointer.is_empty() => {
                let fields = self.fields.iter().filter(|((of, _), _)| of == document);
                (document.source, *fields.map(|(_, place)| place).min()?)
            }
            Place::Field {
                document, pointer, ..
            } => (document.source, *self.fields.get(&(*document, pointer.clone()))?),
            Place::Path(_) | Place::Run => return None,
        };
        let (path, text) = &self.files[source.0 as usize];
        let before = &text[..start];
        Some(Span {
            path,
            text,
            start,
            end,
            line: 1 + before.matches('\n').count(),
            column: 1 + before.rsplit('\n').next().unwrap_or_default().chars().count(),
        })
    }
}

/// One finding of every shape: a related place in another file and in the same one, notes, help, a file as
/// such, the whole run, several lines.
pub(crate) fn sample() -> (Texts, Findings) {
    let mut texts = Texts::default();
    let limits = texts.file(
        "hub/team a/limits.yaml",
        "apiVersion: kuadrant.io/v1\n\
         kind: RateLimitPolicy\n\
         metadata: {name: global, namespace: gateways}\n\
         spec:\n\
         \x20 targetRef:\n\
         \x20   kind: Gateway\n\
         \x20   name: prod-wbe\n\
         \x20 limits:\n\
         \x20   a: {}\n\
         \x20   b: {}\n",
    );
    let gateway = texts.file("hub/gateway.yaml", "kind: Gateway\nmetadata:\n  name: prod-web\n");
    let mut findings = Findings::new();
    let target = texts.field(limits, 0, "/spec/targetRef/name", "prod-wbe");
    findings.push(
        Finding::new(
            Code::POLICY_TARGET_NOT_FOUND,
            target,
            "no Gateway gateways/prod-wbe in the input",
        )
        .label("not found")
        .related(texts.text(gateway, "prod-web"), "this Gateway has a similar name")
        .related(texts.text(limits, "gateways"), "the namespace searched")
        .note("a policy without a namespace in its targetRef targets its own namespace")
        .help("write `name: prod-web`"),
    );
    findings.push(
        Finding::new(
            Code::OBJECT_UNKNOWN_FIELD,
            texts.text(limits, "limits:\n    a: {}\n    b: {}\n"),
            "the schema has no field 50%, c:d",
        )
        .severity(crate::diagnostic::Severity::Warning),
    );
    findings.push(
        Finding::new(
            Code::OUTPUT_EDITED,
            Place::Path("rendered/eu-1/a,b.yaml".to_owned()),
            "edited by hand",
        )
        .help("pass --force to overwrite it"),
    );
    findings.push(
        Finding::new(
            Code::EMPTY_NOTHING_RENDERED,
            Place::Run,
            "no cluster receives anything",
        )
        .help("pass --allow-empty if that is what you mean"),
    );
    (texts, findings)
}
