//! Objects that a judgment found nothing wrong with, for another input that shares their values.
//!
//! Owns: [`Faultless`]. Flows in: objects, and a judgment of one object alone. Flows out: what it found, or nothing where
//! it found nothing before. Must not know: the judgment, which inputs are compared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use apimachinery::ApiVersion;
use kube_json::Value;

use super::Object;
use crate::diagnostic::Finding;

/// The objects that a judgment found nothing wrong with. Clones remember together; the default remembers nothing.
#[derive(Debug, Clone, Default)]
pub struct Faultless(Option<Remembered>);

#[derive(Debug, Clone, Default)]
struct Remembered {
    known: Arc<Mutex<Known>>,
    /// What an earlier run knew.
    before: Arc<Mutex<Known>>,
}

/// By address. The values are kept, so that nothing else can come to be there, and nobody can change them.
type Known = HashMap<usize, Value>;

impl Faultless {
    /// One that remembers.
    #[must_use]
    pub fn remembering() -> Self {
        Self(Some(Remembered::default()))
    }

    /// One for the next run. It forgets what nobody has asked for in this one.
    #[must_use]
    pub fn next(&self) -> Self {
        let before = self.0.as_ref().map(|this| Arc::clone(&this.known));
        Self(Some(Remembered {
            known: Arc::default(),
            before: before.unwrap_or_default(),
        }))
    }

    /// What `judge` finds, which must follow from the value of the object, its kind, and its version. A value in which it
    /// found nothing before is not judged again.
    pub fn judge(&self, object: &Object, judge: impl FnOnce() -> Vec<Finding>) -> Vec<Finding> {
        let address = object.value.as_object().and_then(kube_json::Map::address);
        // A typo in a kind is corrected in the object, by the kinds of its input.
        let remembered = self.0.as_ref().zip(address).filter(|_| is_as_written(object));
        let Some((Remembered { known, before }, address)) = remembered else {
            return judge();
        };
        let has = |known: &Mutex<Known>| known.lock().is_ok_and(|known| known.contains_key(&address));
        if has(known) {
            return Vec::new();
        }
        let found = if has(before) { Vec::new() } else { judge() };
        if found.is_empty()
            && let Ok(mut known) = known.lock()
        {
            known.insert(address, object.value.clone());
        }
        found
    }
}

/// Whether the value says of which kind and version the object is.
fn is_as_written(object: &Object) -> bool {
    let text = |key: &str| object.value.get(key).and_then(Value::as_str).unwrap_or_default();
    object.kind == text("kind") && object.api_version == ApiVersion::parse(text("apiVersion"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, DocumentId, Place, SourceId};
    use crate::object::Origin;

    fn object(value: &Value) -> Object {
        let document = DocumentId {
            source: SourceId(0),
            index: 0,
        };
        let pointer = String::new();
        Object::from_value(value.clone(), Origin { document, pointer })
    }

    /// How many of these objects are judged, one after the other.
    fn judged(faultless: &Faultless, objects: &[&Object], found: &[Finding]) -> usize {
        let mut judged = 0;
        for object in objects {
            let result = faultless.clone().judge(object, || {
                judged += 1;
                found.to_vec()
            });
            assert_eq!(result.len(), found.len());
        }
        judged
    }

    #[test]
    fn only_a_shared_value_without_findings_is_not_judged_again() {
        let value = kube_json::json!({"apiVersion": "g/v1", "kind": "A", "spec": {"a": 1}});
        let (one, again) = (object(&value), object(&value));
        let nothing: &[Finding] = &[];
        assert_eq!(judged(&Faultless::default(), &[&one, &again], nothing), 2);
        assert_eq!(judged(&Faultless::remembering(), &[&one, &again], nothing), 1);
        let found = [Finding::new(Code::OBJECT_SCHEMA, Place::Run, "wrong")];
        assert_eq!(judged(&Faultless::remembering(), &[&one, &again], &found), 2);

        let mut changed = object(&value);
        *changed.value.get_mut("kind").unwrap() = kube_json::json!("B");
        changed.kind = "B".into();
        let mut of_another_kind = object(&value);
        of_another_kind.kind = "B".into();
        let mut of_another_group = object(&value);
        of_another_group.api_version.group = "h".to_owned();
        for other in [&changed, &of_another_kind, &of_another_group] {
            assert_eq!(judged(&Faultless::remembering(), &[&one, other], nothing), 2);
        }
    }

    #[test]
    fn the_next_run_knows_what_was_asked_for_in_the_last_one_and_nothing_else() {
        let value = |name: &str| kube_json::json!({"apiVersion": "g/v1", "kind": "A", "spec": name});
        let (kept, gone) = (object(&value("kept")), object(&value("gone")));
        let first = Faultless::remembering();
        assert_eq!(judged(&first, &[&kept, &gone], &[]), 2);
        let second = first.next();
        assert_eq!(judged(&second, &[&kept], &[]), 0);
        let third = second.next();
        assert_eq!(judged(&third, &[&kept, &gone], &[]), 1);
        // A run that came to nothing takes nothing away.
        assert_eq!(judged(&second.next(), &[&kept], &[]), 0);
        let weak = Arc::downgrade(&first.0.as_ref().unwrap().known);
        drop((first, second));
        assert!(weak.upgrade().is_none(), "what the first run knew is kept");
        assert_eq!(judged(&Faultless::default().next(), &[&kept, &kept], &[]), 1);
    }

    #[test]
    fn a_value_that_is_gone_is_no_other_one_that_comes_to_its_place() {
        let faultless = Faultless::remembering();
        for number in 0..1000 {
            let value = kube_json::json!({"apiVersion": "g/v1", "kind": "A", "spec": number});
            assert_eq!(judged(&faultless, &[&object(&value)], &[]), 1);
        }
    }
}
