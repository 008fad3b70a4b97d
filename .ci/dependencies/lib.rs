//! No code: the manifest beside it is what counts.
