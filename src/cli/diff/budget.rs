//! The options of `diff` for change budgets.
//!
//! Owns: these options, and that they override the configuration. Flows in: arguments. Flows out: a [`Budget`]. Must
//! not know: what is counted.

use clap::{Args, ValueEnum};
use spokewright::pipeline::Budget;
use spokewright::report::diff::Limit;

use super::stop::{Stop, usage};
use crate::cli::show;
use crate::cli::speech::Speech;

/// How much a change may do.
#[derive(Debug, Args)]
pub(super) struct BudgetOptions {
    /// Objects that may be deleted [default: `diff.budget` in the configuration]
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_removed: Option<u32>,

    /// Clusters that may change
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_clusters: Option<u32>,

    /// Paths that may lose the policies of a kind
    #[arg(long, value_name = "N")]
    #[arg(help_heading = "Budget", hide_short_help = true, conflicts_with = "without")]
    max_lost_policies: Option<u32>,

    /// What is meant, however much it is
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    #[arg(help_heading = "Budget", hide_short_help = true)]
    allow: Vec<Allowed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Allowed {
    /// Deleted objects
    Removed,
    /// Changed clusters
    Clusters,
    /// Lost policies
    LostPolicies,
}

impl BudgetOptions {
    /// The limits: these, else those of the configuration.
    pub(super) fn of(&self, configured: Budget) -> Budget {
        let own = Budget {
            max_removed: self.max_removed,
            max_clusters: self.max_clusters,
            max_lost_policies: self.max_lost_policies,
        };
        own.or(configured)
    }

    /// The same against a rendered tree, which does not say what applied.
    pub(super) fn of_tree(&self, configured: Budget, speech: Speech) -> Result<Budget, Stop> {
        if self.max_lost_policies.is_some() {
            return Err(usage(
                "a rendered tree does not say which policies applied, so `--max-lost-policies` cannot be checked",
                "compare with an input: `--base GIT-REV` or `--base-dir DIR`",
            ));
        }
        if configured.max_lost_policies.is_some() {
            show::note(
                "note: `maxLostPolicies` is not checked: a rendered tree does not say which policies applied",
                speech,
            );
        }
        Ok(Budget {
            max_lost_policies: None,
            ..self.of(configured)
        })
    }

    /// What the user allowed.
    pub(super) fn allowed(&self) -> Vec<Limit> {
        let limit = |allowed: &Allowed| match allowed {
            Allowed::Removed => Limit::Removed,
            Allowed::Clusters => Limit::Clusters,
            Allowed::LostPolicies => Limit::LostPolicies,
        };
        self.allow.iter().map(limit).collect()
    }
}
