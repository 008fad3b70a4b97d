//! What this module's unit tests share: objects from JSON, a hub from YAML.

use serde_json::Value;

use crate::diagnostic::{DocumentId, Findings, SourceId};
use crate::hub::{self, Hub};
use crate::object::{ApiVersion, Object, Origin};
use crate::source::{Document, Room};

/// An object that stands alone.
pub(crate) fn object(value: Value) -> Object {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Object {
        api_version: ApiVersion::parse(&text("/apiVersion").unwrap_or_default()),
        kind: text("/kind").unwrap_or_default(),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name").unwrap_or_default(),
        origin: Origin {
            document: DocumentId {
                source: SourceId(0),
                index: 0,
            },
            pointer: String::new(),
        },
        value,
    }
}

/// A hub of YAML documents, and of what lives on clusters.
pub(crate) fn hub(text: &str, spokes: &[(&str, &str)]) -> Hub {
    let mut rooms = vec![(Room::Hub, text)];
    rooms.extend(spokes.iter().map(|(cluster, text)| (Room::Spoke((*cluster).to_owned()), *text)));
    let mut documents = Vec::new();
    for (source, (room, text)) in rooms.into_iter().enumerate() {
        for (index, value) in crate::yaml::stand_in_read_all(text).unwrap().into_iter().enumerate() {
            documents.push(Document {
                id: DocumentId {
                    source: SourceId(u32::try_from(source).unwrap()),
                    index: u32::try_from(index).unwrap(),
                },
                room: room.clone(),
                value,
            });
        }
    }
    let mut findings = Findings::new();
    let hub = hub::build(documents, &hub::Options::default(), &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    hub
}
