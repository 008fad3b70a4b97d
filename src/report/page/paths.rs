//! Finds the places of a page by the locators that reports use.
//!
//! Owns: that lookup. Flows in: the [`Hierarchy`], locators of a path. Flows out: places. Must not know: policies.

use std::collections::HashMap;

use super::document::Position;
use super::hierarchy::{Hierarchy, rule_name};
use super::interned::{Tables, entry, signed};

/// What a locator names.
#[derive(Debug, Clone, Copy)]
enum Part {
    Gateway(usize),
    Listener(usize, usize),
    Route(usize),
    Rule(usize, usize),
    Backend(usize),
}

/// The places by their locators.
pub(super) struct Paths {
    parts: HashMap<String, Part>,
    /// How many clusters each Gateway has.
    clusters: Vec<usize>,
}

impl Paths {
    pub(super) fn of(hierarchy: &Hierarchy<'_>, tables: &Tables<'_>) -> Self {
        let mut parts = HashMap::new();
        for (number, backend) in hierarchy.backends.keys() {
            let (identity, port) = backend;
            let mut locator = identity.locator();
            if let Some(port) = port {
                locator = format!("{locator}#{port}");
            }
            parts.insert(locator, Part::Backend(number));
        }
        for (number, gateway) in hierarchy.gateways.list.iter().enumerate() {
            parts.insert(gateway.identity.locator(), Part::Gateway(number));
            for (position, locator) in gateway.listeners.keys() {
                parts.insert(locator.clone(), Part::Listener(number, position));
            }
        }
        for (number, route) in hierarchy.routes.list.iter().enumerate() {
            let locator = route.object.identity().locator();
            for (position, rule) in route.rules.iter().enumerate() {
                let name = rule_name(rule, position);
                parts.insert(format!("{locator}#{name}"), Part::Rule(number, position));
            }
            parts.insert(locator, Part::Route(number));
        }
        // A Gateway is in one place of each cluster.
        let of_place = |place: &usize| tables.of_places.get(*place).map_or(0, Vec::len);
        let gateways = hierarchy.gateways.list.iter();
        let clusters = gateways.map(|gateway| gateway.places.iter().map(of_place).sum());
        Self {
            parts,
            clusters: clusters.collect(),
        }
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
            match self.parts.get(locator) {
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
