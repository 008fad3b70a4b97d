//! What a run leaves for the next one of the same process.
//!
//! Owns: [`Remembered`]. Flows in: the input of a run, what it knows of the files that it rendered. Flows out: the request
//! of the next one. Must not know: why there is a next one.

use std::sync::Arc;

use super::loaded::Loaded;
use super::request::{Examined, Request};
use crate::render::KnownFiles;
use crate::source;

/// What a run leaves for the next one of the same process: its texts, the values in them, those that nothing is wrong
/// with, and what it knows of the files that it rendered. Of earlier runs, nothing is kept.
#[derive(Debug, Clone, Default)]
pub struct Remembered {
    known: source::KnownTexts,
    examined: Examined,
    rendered: Arc<KnownFiles>,
}

impl Remembered {
    /// What a run with this input leaves.
    #[must_use]
    pub fn of(loaded: &Loaded) -> Self {
        Self {
            known: loaded.sources.known_texts(),
            examined: loaded.examined.clone(),
            rendered: Arc::default(),
        }
    }

    /// The same, and what it knows of the files that it rendered.
    #[must_use]
    pub fn and(self, rendered: KnownFiles) -> Self {
        Self {
            rendered: Arc::new(rendered),
            ..self
        }
    }

    /// What the run before knew of the files that it rendered, for [`Layout::after`](crate::render::Layout::after).
    #[must_use]
    pub fn rendered(&self) -> Arc<KnownFiles> {
        Arc::clone(&self.rendered)
    }

    /// The request of a run that may take it over, and leaves the same for the next one.
    #[must_use]
    pub fn with(&self, request: Request) -> Request {
        Request {
            keeps_values: true,
            known: self.known.clone(),
            examined: self.examined.next(),
            ..request
        }
    }
}
