//! How a policy declares that it deliberately lets everybody in.
//!
//! Owns: the part of a profile about that ([`Open`]), and whether a setting matches it. Flows in: settings. Flows out:
//! yes or no. Must not know: profiles, effective policies.

use serde::{Deserialize, Serialize};

/// One way in which settings let everybody in: all of `with` are present, and none of `without`.
///
/// Each is the name of a setting, which is a rule id or a JSON pointer, and a JSON pointer into its value. `*` matches
/// any one part: `authentication#*/anonymous`. If `=` and a word follow, the setting counts as present only with this
/// value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Open {
    /// Settings that must be present.
    pub with: Vec<String>,
    /// Settings that must be absent.
    pub without: Vec<String>,
}

impl Open {
    /// A way, as profiles write it.
    pub(super) fn new(with: &[&str], without: &[&str]) -> Self {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Self {
            with: owned(with),
            without: owned(without),
        }
    }
}
