//! Typed views of the kinds that spokewright interprets.
//!
//! Owns: reading a dynamic object as a GatewayClass, a Gateway, a policy's target references, OCM's cluster,
//! placement and work kinds, GatewayClass parameters, CRDs; the defaults of their CRDs; and what an API server would
//! refuse.
//! Flows in: objects. Flows out: typed views, and findings at the field that is wrong.
//! Must not know: other objects. A reference stays a reference here; `hub` resolves it.

pub mod catalog;
pub mod config;
pub mod crd;
pub mod downstream;
pub mod feedback_path;
mod fields;
pub mod gateway;
pub mod ocm;
pub mod ocm_work;
pub mod params;
pub mod policy;
mod reading;
pub mod route;
pub mod rules;
pub mod schema;
pub mod suppression;
pub mod targeting;
pub mod violation;

pub use fields::Reading;

#[cfg(any(test, feature = "real-crds"))]
#[allow(clippy::expect_used)]
pub mod fixture {
    //! Objects for tests.

    #[cfg(test)]
    use kube_json::Value;

    use crate::object::Object;

    /// [`Object::alone`].
    #[cfg(test)]
    pub(crate) fn object(value: Value) -> Object {
        Object::alone(value)
    }

    /// Every CRD below the directory that `SPOKEWRIGHT_CRDS` names, by path.
    #[cfg(feature = "real-crds")]
    #[must_use]
    pub fn real_crds() -> Vec<(std::path::PathBuf, Object)> {
        let root = std::env::var_os("SPOKEWRIGHT_CRDS")
            .expect("set SPOKEWRIGHT_CRDS to a directory of CustomResourceDefinitions, one a file");
        let mut found = Vec::new();
        let mut pending = vec![std::path::PathBuf::from(root)];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory).expect("readable").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    pending.push(path);
                } else if path.extension().is_some_and(|extension| extension == "yaml") {
                    let text = std::fs::read_to_string(&path).expect("text");
                    let documents = super::reading::read(&text).expect("YAML");
                    found.push((path, Object::alone(documents)));
                }
            }
        }
        assert!(!found.is_empty(), "SPOKEWRIGHT_CRDS has no .yaml file");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}
