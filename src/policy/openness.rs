//! Policies that let everybody in, on purpose: they hold, and they cover nothing.
//!
//! Owns: asking a profile whether settings that hold together do. Flows in: what holds on a path. Flows out: yes or no. Must
//! not know: paths, reports.

use super::layer::Content;
use super::open::is_there;
use super::profile::Profile;

impl Profile {
    /// Whether settings that hold together let everybody in. No settings do not: then there is no policy.
    #[must_use]
    pub(crate) fn lets_everybody_in(&self, content: &Content) -> bool {
        let has = |wanted: &String| {
            let (name, word) = match wanted.split_once('=') {
                Some((name, word)) => (name, Some(word)),
                None => (wanted.as_str(), None),
            };
            content
                .iter()
                .any(|(key, leaf)| is_there(name, key, &leaf.value, word))
        };
        !content.is_empty()
            && self
                .open
                .iter()
                .any(|open| open.with.iter().all(has) && !open.without.iter().any(has))
    }
}
