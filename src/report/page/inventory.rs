//! The rows of an inventory: its routes, outcomes, and exceptions as a page has them, and the positions of its entries by
//! their locators.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::document::{
    ExceptionRow, LostRow, OnRow, OutcomeRow, Position, Profiled, RouteRow, RuleRow, SetRow, Tables, entry,
    signed, signed_or_none,
};
use crate::outcome::inventory::{Interned, Inventory, LostSetting, OutcomeEntry, OutcomeSetting, Spot};
use crate::topology::{Level, Node, Topology};

/// The outcome of most clusters, or -1, by kind and spot.
type Common = BTreeMap<(usize, Spot), Position>;

pub(super) fn common_outcomes(inventory: &Inventory) -> Common {
    let outcomes = inventory.outcomes.iter().zip(0..);
    let usual = outcomes.flat_map(|(outcome, position)| {
        let paths = outcome.paths.iter();
        paths.map(move |path| ((outcome.kind_position, path.spot), position))
    });
    let exceptions = inventory.exceptions.iter();
    // Most clusters have none.
    let none = exceptions.filter(|exception| exception.usual.is_none());
    let none = none.flat_map(|exception| {
        let paths = exception.paths.iter();
        paths.map(|path| ((exception.kind_position, path.spot), -1))
    });
    usual.chain(none).collect()
}

/// The settings that apply above the routes, by Gateway.
pub(super) fn own_outcomes(common: &Common) -> HashMap<usize, Vec<(Position, usize, Position)>> {
    let mut own: HashMap<usize, Vec<(Position, usize, Position)>> = HashMap::new();
    for ((kind, spot), outcome) in common.iter().filter(|((_, spot), _)| spot.route < 0) {
        let row = (spot.listener.into(), *kind, *outcome);
        own.entry(spot.gateway).or_default().push(row);
    }
    own
}

/// The kinds whose paths end at rules: the columns of profiles.
pub(super) fn rule_kinds(inventory: &Inventory) -> Vec<usize> {
    let kinds = inventory.kinds.iter().zip(0..);
    let kinds = kinds.filter(|(kind, _)| kind.ends == Level::Rule);
    kinds.map(|(_, position)| position).collect()
}

pub(super) fn outcome_row(outcome: &OutcomeEntry, tables: &mut Tables<'_>) -> OutcomeRow {
    OutcomeRow {
        kind: outcome.kind_position,
        set: outcome
            .settings
            .iter()
            .map(|setting| set_row(setting, tables))
            .collect(),
        lost: outcome
            .overridden
            .iter()
            .map(|setting| lost_row(setting, tables))
            .collect(),
        open: outcome.open,
    }
}

fn set_row(setting: &OutcomeSetting, tables: &mut Tables<'_>) -> SetRow {
    let (file, line) = tables.line_or_none(setting.place.as_ref());
    let value = tables.concealed_value(&setting.value);
    (setting.setting.clone(), value, setting.policy.number, file, line)
}

fn lost_row(setting: &LostSetting, tables: &mut Tables<'_>) -> LostRow {
    let (file, line) = tables.line_or_none(setting.place.as_ref());
    let value = setting.value.as_ref();
    (
        setting.setting.clone(),
        signed_or_none(value.map(|value| tables.concealed_value(value))),
        setting.policy.number,
        setting.by.iter().map(|by| by.number).collect(),
        setting.rule,
        file,
        line,
    )
}

pub(super) fn exception_rows(inventory: &Inventory, tables: &mut Tables<'_>) -> Vec<ExceptionRow> {
    let exceptions = inventory.exceptions.iter();
    let rows = exceptions.map(|exception| ExceptionRow {
        clusters: tables.shared_set(&exception.clusters),
        kind: exception.kind_position,
        old: signed_or_none(exception.usual),
        new: signed_or_none(exception.here),
        on: exception.paths.iter().map(|path| spot_row(path.spot)).collect(),
    });
    rows.collect()
}

fn spot_row(spot: Spot) -> Vec<Position> {
    let mut row = vec![signed(spot.gateway)];
    row.extend([spot.listener, spot.route, spot.rule].map(Position::from));
    if spot.backend >= 0 {
        row.push(spot.backend.into());
    }
    row
}

pub(super) fn route_rows(
    inventory: &Inventory,
    profiles: &mut Profiles,
    tables: &mut Tables<'_>,
) -> Vec<RouteRow> {
    let mut rows = Vec::new();
    for (route, number) in inventory.routes.iter().zip(0..) {
        let on = route.attached.iter().map(|attached| {
            let (gateway, listener) = attached.position;
            let (profiled, others) = profiles.on((gateway, listener, number), route.rules.len());
            let clusters = Some(&attached.clusters).filter(|clusters| !clusters.is_empty());
            let only = clusters.map(|clusters| tables.shared_set(clusters));
            // An array has no place that could be left out.
            let others = match (&others, only) {
                (None, Some(_)) => Some(Vec::new()),
                _ => others,
            };
            OnRow(gateway, listener.into(), profiled, others, only)
        });
        let on = on.collect();
        let rules = route.rules.iter().map(|rule| RuleRow {
            name: rule.name.clone(),
            m: rule.matches.clone(),
            to: rule.backends.clone(),
            b: rule.listed_backends.clone(),
        });
        rows.push(RouteRow {
            kind: route.identity.group_kind.kind.clone(),
            ns: route.identity.namespace.clone().unwrap_or_default(),
            name: route.identity.name.clone(),
            local: route.local,
            hosts: route.hostnames.clone(),
            rules: rules.collect(),
            on,
            at: tables.line(route.place.as_ref()),
        });
    }
    rows
}

/// Rule or -1, backend or -1, kind, outcome.
type OtherRow = (Position, Position, usize, Position);

/// The profiles of rules, and the settings that apply on paths that have no column.
#[derive(Default)]
pub(super) struct Profiles {
    pub(super) list: Interned<Vec<Position>, Vec<Position>>,
    /// By Gateway, listener and route: the outcomes of each rule by column, and the others.
    by_place: HashMap<(usize, i32, i32), OfRoute>,
    columns: usize,
}

#[derive(Default)]
struct OfRoute {
    rules: BTreeMap<i32, Vec<Position>>,
    others: Vec<(Position, Position, usize, Position)>,
}

impl Profiles {
    pub(super) fn new(common: &Common, columns: &[usize]) -> Self {
        let mut profiles = Self {
            columns: columns.len(),
            ..Self::default()
        };
        for ((kind, spot), outcome) in common.iter().filter(|((_, spot), _)| spot.route >= 0) {
            let place = (spot.gateway, spot.listener, spot.route);
            let of_route = profiles.by_place.entry(place).or_default();
            let column = columns.iter().position(|column| column == kind);
            match column.filter(|_| spot.rule >= 0 && spot.backend < 0) {
                Some(column) => {
                    let none = || vec![-1; columns.len()];
                    let row = of_route.rules.entry(spot.rule).or_insert_with(none);
                    if let Some(cell) = row.get_mut(column) {
                        *cell = *outcome;
                    }
                }
                None => of_route
                    .others
                    .push((spot.rule.into(), spot.backend.into(), *kind, *outcome)),
            }
        }
        profiles
    }

    /// The profile of each rule of a route below a listener, and the rest.
    pub(super) fn on(&mut self, place: (usize, i32, i32), rules: usize) -> (Profiled, Option<Vec<OtherRow>>) {
        let Self {
            list,
            by_place,
            columns,
        } = self;
        let of_route = by_place.remove(&place).unwrap_or_default();
        let mut each: Vec<usize> = Vec::new();
        for (rule, _) in (0..).zip(0..rules) {
            let none = || vec![-1; *columns];
            let row = of_route.rules.get(&rule).cloned().unwrap_or_else(none);
            each.push(list.position(row.clone(), || row));
        }
        let others = Some(of_route.others).filter(|others| !others.is_empty());
        let profiled = match each.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => Profiled::All(*first),
            _ => Profiled::Each(each),
        };
        (profiled, others)
    }
}

/// What a locator names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Gateway(usize),
    Listener(usize, usize),
    Route(usize),
    Rule(usize, usize),
    Backend(usize),
}

/// The entries of an inventory by their locators.
pub(super) struct Paths {
    parts: HashMap<Arc<str>, Part>,
    /// How many clusters each Gateway has.
    clusters: Vec<usize>,
}

impl Paths {
    pub(super) fn new(inventory: &Inventory) -> Self {
        let mut parts = HashMap::new();
        for (number, backend) in inventory.backends.entries().iter().enumerate() {
            parts.insert(Arc::clone(&backend.locator), Part::Backend(number));
        }
        for (number, gateway) in inventory.gateways.iter().enumerate() {
            for (position, listener) in gateway.listeners.iter().enumerate() {
                parts.insert(Arc::clone(&listener.listener), Part::Listener(number, position));
            }
            // The one listener of a Service has its locator.
            parts.insert(Arc::clone(&gateway.gateway), Part::Gateway(number));
        }
        for (number, route) in inventory.routes.iter().enumerate() {
            for (position, rule) in route.rules.iter().enumerate() {
                parts.insert(Arc::clone(&rule.rule), Part::Rule(number, position));
            }
            parts.insert(Arc::clone(&route.route), Part::Route(number));
        }
        let gateways = inventory.gateways.iter();
        Self {
            parts,
            clusters: gateways.map(|gateway| gateway.clusters.len()).collect(),
        }
    }

    /// The entry of a node.
    pub(super) fn part(&self, topology: &Topology<'_>, node: Node) -> Option<Part> {
        self.parts.get(topology.locator(node).as_str()).copied()
    }

    /// The position of a Gateway of the hub by its locator.
    pub(super) fn gateway(&self, locator: &str) -> Option<usize> {
        match self.parts.get(locator) {
            Some(Part::Gateway(gateway)) => Some(*gateway),
            _ => None,
        }
    }

    /// The place of a path; one that the page does not have, as only the base does, has no Gateway.
    pub(super) fn spot(&self, path: &[String]) -> Vec<Position> {
        let [mut gateway, mut listener, mut route, mut rule, mut backend] = [-1; 5];
        for (number, locator) in path.iter().enumerate() {
            match self.parts.get(locator.as_str()) {
                Some(Part::Gateway(found)) => gateway = signed(*found),
                Some(Part::Listener(of, found)) => {
                    gateway = signed(*of);
                    listener = signed(*found);
                }
                Some(Part::Route(found)) => route = signed(*found),
                Some(Part::Rule(of, found)) => {
                    route = signed(*of);
                    rule = signed(*found);
                }
                Some(Part::Backend(found)) => backend = signed(*found),
                // The first is a class, which no page lists.
                None if number == 0 => {}
                None => return vec![-1, -1, -1, -1],
            }
        }
        let mut spot = vec![gateway, listener, route, rule];
        if backend >= 0 {
            spot.push(backend);
        }
        spot
    }

    /// On how many clusters a place is.
    pub(super) fn clusters_of(&self, spot: &[Position]) -> usize {
        let clusters = spot.first().and_then(|gateway| entry(&self.clusters, *gateway));
        clusters.copied().unwrap_or_default()
    }
}
