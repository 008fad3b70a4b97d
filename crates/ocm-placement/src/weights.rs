//! Which prioritizers a Placement uses, and how much each counts (docs/systems/ocm-placement.md#weights). A prioritizer
//! of weight 0 is not used.

use crate::api::placement::FieldFault;
use crate::api::placement::{AddOnScore, PrioritizerPolicy, ScoreCoordinate};
use crate::prioritizers::resource_allocatable::Resource;

/// A prioritizer of OCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind<'a> {
    Balance,
    Steady,
    Allocatable(Resource),
    AddOn(AddOnScore<'a>),
}

impl Kind<'_> {
    /// The name in reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Balance => "Balance".to_owned(),
            Self::Steady => "Steady".to_owned(),
            Self::Allocatable(Resource::Cpu) => "ResourceAllocatableCPU".to_owned(),
            Self::Allocatable(Resource::Memory) => "ResourceAllocatableMemory".to_owned(),
            Self::AddOn(score) => format!("AddOn/{}/{}", score.resource_name, score.score_name),
        }
    }
}

/// A prioritizer that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Prioritizer<'a> {
    pub(crate) kind: Kind<'a>,
    /// Never 0.
    pub(crate) weight: i64,
    /// The configuration that says so; `None`: a default.
    pub(crate) configuration: Option<usize>,
}

/// One entry of OCM's map of weights. Its key is a whole `ScoreCoordinate`, which holds a Go *pointer* to `addOn`: two
/// entries with that block are never the same key, whatever it says. So repeated AddOn entries add up, and a BuiltIn
/// entry with such a block adds to the default instead of overriding it (docs/systems/ocm-placement.md#weights;
/// `mergeWeights` in open-cluster-management-io/ocm
/// pkg/placement/controllers/scheduling/schedule.go@805fa6103d8bc1761dbc9cb4e420def42703ec53).
struct Entry<'a> {
    coordinate: ScoreCoordinate<'a>,
    weight: i64,
    configuration: Option<usize>,
}

const POLICY: &str = "/spec/prioritizerPolicy";

/// The prioritizers of a policy, the defaults first, then in the order of the configurations.
pub(crate) fn prioritizers<'a>(policy: &PrioritizerPolicy<'a>) -> Result<Vec<Prioritizer<'a>>, FieldFault> {
    let default = |built_in| Entry {
        coordinate: ScoreCoordinate {
            is_add_on: false,
            built_in,
            add_on: None,
        },
        weight: 1,
        configuration: None,
    };
    let mut entries = match policy.mode {
        "" | "Additive" => vec![default("Balance"), default("Steady")],
        "Exact" => Vec::new(),
        other => {
            return Err(FieldFault {
                message: format!("incorrect prioritizer policy mode: {other}"),
                pointer: format!("{POLICY}/mode"),
            });
        }
    };
    for (index, configuration) in policy.configurations.iter().enumerate() {
        let coordinate = configuration.coordinate;
        let same = entries
            .iter_mut()
            .find(|entry| coordinate.add_on.is_none() && entry.coordinate == coordinate);
        let entry = Entry {
            coordinate,
            weight: configuration.weight,
            configuration: Some(index),
        };
        match same {
            Some(same) => *same = entry,
            None => entries.push(entry),
        }
    }
    // Weight 0 goes first: a prioritizer that nobody knows is no fault then.
    entries
        .iter()
        .filter(|entry| entry.weight != 0)
        .map(prioritizer)
        .collect()
}

fn prioritizer<'a>(entry: &Entry<'a>) -> Result<Prioritizer<'a>, FieldFault> {
    let fault = |message: String, field: &str| FieldFault {
        message,
        pointer: match entry.configuration {
            Some(index) => format!("{POLICY}/configurations/{index}/scoreCoordinate{field}"),
            None => POLICY.to_owned(),
        },
    };
    let ScoreCoordinate {
        is_add_on,
        built_in,
        add_on,
    } = entry.coordinate;
    let kind = match (is_add_on, add_on, built_in) {
        (true, Some(score), _) => Kind::AddOn(score),
        (true, None, _) => return Err(fault("addOn should not be empty".to_owned(), "")),
        (false, _, "Balance") => Kind::Balance,
        (false, _, "Steady") => Kind::Steady,
        (false, _, "ResourceAllocatableCPU") => Kind::Allocatable(Resource::Cpu),
        (false, _, "ResourceAllocatableMemory") => Kind::Allocatable(Resource::Memory),
        (false, _, other) => {
            return Err(fault(
                format!("incorrect builtin prioritizer: {other}"),
                "/builtIn",
            ));
        }
    };
    Ok(Prioritizer {
        kind,
        weight: entry.weight,
        configuration: entry.configuration,
    })
}
