//! The whole pipeline as library calls: a [`Request`] becomes [`Loaded`] input, and that a [`Rendered`] plan.
//!
//! The order of the stages is decided here, and where configuration, input, and output are found. What a stage decides, it
//! decides for itself.
//!
//! ```no_run
//! use spokewright::diagnostic::Findings;
//! use spokewright::pipeline::{Analysis, EmptyResult, Request, load};
//!
//! let loaded = load(&Request { paths: vec!["hub".into()], ..Request::default() });
//! let mut findings = Findings::new();
//! let analysis = Analysis::new(&loaded, &mut findings);
//! let rendered = analysis.render(EmptyResult::Refused, &mut findings);
//! loaded.finish(&mut findings);
//! println!("{} works, {} findings", rendered.plan.work_count(), findings.iter().count());
//! ```

mod analysis;
pub mod argocd;
mod dedup;
mod empty_result;
mod inputs;
mod kustomize_origin;
mod loaded;
mod page;
mod placed;
mod policies;
mod projections;
mod request;
mod results;
mod schemas;
mod staged;
mod stages;
pub mod start;
mod suppress;

pub use crate::api::config::{Budget, PlacementMode, PlacementSource, RenderConfig};
pub use crate::placing::{inventory, problems, unwritable};
pub use crate::report::PolicyView;
pub use analysis::{Analysis, Received, Spokes};
pub use inputs::{configuration, load, load_checkout, load_from, load_staged, watched};
pub use loaded::Loaded;
pub use request::{CONFIG_NAME, Request};
pub use results::{check, unexpected};
pub use schemas::{SCHEMA_STORE_CATALOG, SCHEMAS, catalog_text, definitions};
pub use staged::InIndex;
pub use stages::{
    Before, EmptyResult, Rendered, load_base_spokes, load_works, load_works_and_sets, lost_by_replacing,
};
