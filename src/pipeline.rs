//! The whole pipeline as library calls: files to hub, hub to plan.
//!
//! Owns: the order of the stages, and where configuration, input and output are found.
//! Flows in: a [`Request`], made from a command line. Flows out: [`Loaded`] input, a [`Rendered`] plan, findings.
//! Must not know: terminals, exit statuses, or how anything is decided: each stage decides for itself.
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

mod request;

mod suppress;

mod origins;

mod loaded;

mod exported;
mod inputs;
mod misplaced;

mod projections;

mod placed;

mod policies;

mod analysis;

mod nothing;
mod one_name;
mod results;
mod stages;
mod unreadable;

mod deleted;
mod page;

mod variables;
mod withdrawn;

// Other ways to name the input, the schemas, and the files to begin with.
pub mod argocd;
mod schemas;
#[cfg(feature = "git")]
mod staged;
pub mod start;

pub use crate::api::config::{Budget, PlacementMode, PlacementSource, RenderConfig};
pub use crate::placing::{inventory, problems, unwritable};
pub use crate::report::PolicyView;
pub use analysis::{Analysis, Received, Spokes};
pub use exported::{load_prunable, load_works};
pub use inputs::{configuration, load, load_checkout, load_from, load_staged, watched};
pub use loaded::Loaded;
pub use page::PageInput;
pub use request::{CONFIG_NAME, Request};
pub use results::{check, unexpected};
pub use schemas::{SCHEMA_STORE_CATALOG, SCHEMAS, catalog_text, overlay_definition};
#[cfg(feature = "git")]
pub use staged::InIndex;
pub use stages::{Before, EmptyResult, PruneOptions, Rendered, lost_by_replacing};
