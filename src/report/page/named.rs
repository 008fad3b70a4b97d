//! The report about policies: it refers by locators to what a page refers to by positions.
//!
//! Owns: that translation. Flows in: a view, what is withheld from clusters, texts. Flows out: a [`PolicyReport`]. Must
//! not know: pages, how anything was decided.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{Ends, Interned, Kinds, LostRow, Numbers, Position, RuleRow, SetRow, Tables};
use super::hierarchy::{Hierarchy, rule_name};
use super::outcomes::Outcomes;
use crate::outcome::inventory::{
    AttachedEntry, GatewayEntry, Inventory, KindEntry, ListenerEntry, LostSetting, OutcomeEntry,
    OutcomeException, OutcomeSetting, RouteEntry, RuleEntry,
};
use crate::outcome::{PolicyReport, PolicyView, Seen, SourceLine};
use crate::policy::Rule;
use crate::source::Sources;
use crate::sync::Withheld;
use crate::topology::Level;

/// The whole report.
pub(crate) fn policy_report<'p>(
    view: &'p PolicyView<'p>,
    withheld: &'p [Withheld<'p>],
    sources: &'p Sources,
) -> PolicyReport {
    let relative = sources.root_relative();
    let clusters: BTreeSet<&str> = view
        .seen()
        .flat_map(|seen| seen.clusters.iter().map(String::as_str))
        .collect();
    let clusters: Vec<&str> = clusters.into_iter().collect();
    let mut tables = Tables::new(&relative, &clusters).with(view);
    let kinds = Kinds::of(view);
    let numbers = Numbers::of(view);
    let (mut hierarchy, maps, of_hub) = Hierarchy::of(view, &mut tables, false);
    let outcomes = Outcomes::of(
        view,
        (&mut hierarchy, &maps, &of_hub),
        (&kinds, &numbers),
        withheld,
        &mut tables,
    );
    let places: Vec<Seen<'_>> = view.seen().collect();
    let policies = numbers.entries.iter().map(|entry| {
        let seen = places.get(entry.place.unwrap_or_default());
        seen.map_or_else(String::new, |seen| {
            seen.attachments.locator(entry.policy).to_string()
        })
    });
    let policies = policies.collect();
    let (gateways, routes) = inventory(&hierarchy, &clusters, &mut tables);
    let naming = Naming {
        locators: Locators::of(&hierarchy),
        clusters,
        kinds: &kinds,
        policies,
        tables,
    };
    let inventory = Inventory {
        kinds: naming.kinds(),
        gateways,
        routes,
        outcomes: naming.outcomes(&outcomes),
        exceptions: naming.exceptions(&outcomes),
    };
    PolicyReport::with(view, inventory, &relative)
}

fn inventory(
    hierarchy: &Hierarchy<'_>,
    clusters: &[&str],
    tables: &mut Tables<'_>,
) -> (Vec<GatewayEntry>, Vec<RouteEntry>) {
    let locators = Locators::of(hierarchy);
    let mut names = ClusterNames {
        clusters,
        known: HashMap::new(),
    };
    let gateways = hierarchy.gateways.list.iter().zip(&locators.gateways);
    let gateways = gateways.map(|(entry, (gateway, listeners))| GatewayEntry {
        gateway: gateway.clone(),
        place: entry.object.and_then(|object| tables.line(object)),
        class: entry.class.clone(),
        placement: entry
            .placement
            .as_ref()
            .map(|(namespace, name)| format!("{namespace}/{name}")),
        local: entry.local,
        clusters: names.of(&entry.places, tables),
        listeners: entry
            .listeners
            .list
            .iter()
            .zip(listeners)
            .map(|(row, listener)| ListenerEntry {
                listener: listener.clone(),
                hostname: row.host.clone(),
                port: row.port,
                protocol: row.protocol.clone(),
                listener_set: row.set.clone(),
            })
            .collect(),
    });
    let gateways = gateways.collect();
    let routes = hierarchy.routes.list.iter().zip(&locators.routes);
    let routes = routes.map(|(entry, (route, rules))| RouteEntry {
        route: route.clone(),
        place: tables.line(entry.object),
        local: entry.local,
        hostnames: entry.hosts.clone(),
        rules: rules
            .iter()
            .zip(&entry.rules)
            .map(|(rule, RuleRow { m, to, .. })| RuleEntry {
                rule: rule.clone(),
                matches: m.clone(),
                backends: to.clone(),
            })
            .collect(),
        attached: entry
            .on
            .list
            .iter()
            .map(|((gateway, listener), there)| {
                let all = hierarchy.gateways.list.get(*gateway);
                let all = all.map(|gateway| tables.set_of_places(&gateway.places));
                let is_everywhere = all.is_none_or(|all| all == tables.set_of_places(there));
                AttachedEntry {
                    listener: locators.listener(*gateway, *listener).unwrap_or_default(),
                    clusters: if is_everywhere {
                        Arc::default()
                    } else {
                        names.of(there, tables)
                    },
                }
            })
            .collect(),
    });
    (gateways, routes.collect())
}

/// The names of clusters by their positions: a thousand Gateways on ten thousand clusters have one list.
struct ClusterNames<'h> {
    clusters: &'h [&'h str],
    /// By set.
    known: HashMap<usize, Arc<Vec<String>>>,
}

impl ClusterNames<'_> {
    fn of(&mut self, places: &[usize], tables: &mut Tables<'_>) -> Arc<Vec<String>> {
        let set = tables.set_of_places(places);
        let names = self.known.entry(set).or_insert_with(|| {
            let names = tables.members(set);
            let names = names.filter_map(|position| self.clusters.get(position));
            Arc::new(names.map(|name| (*name).to_owned()).collect())
        });
        Arc::clone(names)
    }
}

/// The locators of everything by position.
struct Locators {
    /// Each with its listeners.
    gateways: Vec<(String, Vec<String>)>,
    /// Each with its rules.
    routes: Vec<(String, Vec<String>)>,
    backends: Vec<String>,
}

impl Locators {
    fn of(hierarchy: &Hierarchy<'_>) -> Self {
        let gateways = hierarchy.gateways.list.iter().map(|entry| {
            let gateway = entry.identity.locator();
            let listeners = in_order(&entry.listeners, |locator: &String| match locator.as_str() {
                // Requests inside a mesh go to the Service itself.
                "" => gateway.clone(),
                locator => locator.to_owned(),
            });
            (gateway.clone(), listeners)
        });
        let routes = hierarchy.routes.list.iter().map(|entry| {
            let route = entry.object.identity().locator();
            let rules = entry.rules.iter().enumerate();
            let rules = rules.map(|(position, rule)| format!("{route}#{}", rule_name(rule, position)));
            (route.clone(), rules.collect())
        });
        Self {
            gateways: gateways.collect(),
            routes: routes.collect(),
            backends: in_order(&hierarchy.backends, |(identity, port)| match port {
                Some(port) => format!("{}#{port}", identity.locator()),
                None => identity.locator(),
            }),
        }
    }

    fn listener(&self, gateway: usize, listener: i32) -> Option<String> {
        let (_, listeners) = self.gateways.get(gateway)?;
        listeners.get(usize::try_from(listener).ok()?).cloned()
    }

    /// The locators of a place, from its Gateway on.
    fn path(&self, spot: &[Position]) -> Vec<String> {
        let at = |number: usize| {
            spot.get(number)
                .and_then(|position| usize::try_from(*position).ok())
        };
        let gateway = at(0).and_then(|position| self.gateways.get(position));
        let route = at(2).and_then(|position| self.routes.get(position));
        let listener = gateway
            .zip(at(1))
            .and_then(|((_, listeners), position)| listeners.get(position));
        let rule = route
            .zip(at(3))
            .and_then(|((_, rules), position)| rules.get(position));
        let backend = at(4).and_then(|position| self.backends.get(position));
        let gateway = gateway.map(|(gateway, _)| gateway);
        // The one listener of a Service is the Service.
        let listener = listener.filter(|listener| Some(*listener) != gateway);
        [gateway, listener, route.map(|(route, _)| route), rule, backend]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }
}

/// The names of the entries of a list, in its order.
fn in_order<K: Eq + std::hash::Hash, T>(list: &Interned<K, T>, name: impl Fn(&K) -> String) -> Vec<String> {
    let mut names: Vec<(usize, String)> = list.keys().map(|(position, key)| (position, name(key))).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name).collect()
}

/// The names that positions stand for.
struct Naming<'n, 'p> {
    locators: Locators,
    clusters: Vec<&'p str>,
    kinds: &'n Kinds,
    /// Locators.
    policies: Vec<String>,
    tables: Tables<'p>,
}

impl Naming<'_, '_> {
    fn kinds(&self) -> Vec<KindEntry> {
        let rows = self.kinds.rows.iter();
        let entries = rows.map(|row| KindEntry {
            kind: row.kind.clone(),
            group: row.group.clone(),
            ends: match row.ends {
                Ends::Rule => Level::Rule,
                Ends::Backend => Level::Backend,
                Ends::Listener => Level::Listener,
                Ends::Gateway => Level::Gateway,
            }
            .name(),
        });
        entries.collect()
    }

    fn kind(&self, position: usize) -> (String, String) {
        let row = self.kinds.rows.get(position);
        row.map(|row| (row.kind.clone(), row.group.clone()))
            .unwrap_or_default()
    }

    fn policy(&self, position: usize) -> String {
        self.policies.get(position).cloned().unwrap_or_default()
    }

    fn place(&self, file: Position, line: usize) -> Option<SourceLine> {
        let path = self.tables.files.list.get(usize::try_from(file).ok()?)?.clone();
        Some(SourceLine { path, line })
    }

    fn outcomes(&self, outcomes: &Outcomes) -> Vec<OutcomeEntry> {
        let rows = outcomes.rows.iter().map(|row| {
            let (kind, group) = self.kind(row.kind);
            OutcomeEntry {
                kind,
                group,
                open: row.open,
                settings: row.set.iter().map(|row| self.setting(row)).collect(),
                overridden: row.lost.iter().map(|row| self.lost(row)).collect(),
                paths: Vec::new(),
            }
        });
        let mut entries: Vec<OutcomeEntry> = rows.collect();
        for ((_, spot), outcome) in &outcomes.common {
            let position = usize::try_from(*outcome).ok();
            if let Some(entry) = position.and_then(|position| entries.get_mut(position)) {
                entry.paths.push(self.locators.path(&spot.row()));
            }
        }
        entries
    }

    fn setting(&self, (setting, value, policy, file, line): &SetRow) -> OutcomeSetting {
        OutcomeSetting {
            setting: setting.clone(),
            value: self.tables.values.list.get(*value).cloned().unwrap_or_default(),
            policy: self.policy(*policy),
            place: self.place(*file, *line),
        }
    }

    fn lost(&self, (setting, value, policy, by, rule, file, line): &LostRow) -> LostSetting {
        let value = usize::try_from(*value).ok();
        LostSetting {
            setting: setting.clone(),
            value: value.and_then(|value| self.tables.values.list.get(value).cloned()),
            policy: self.policy(*policy),
            place: self.place(*file, *line),
            by: by.iter().map(|policy| self.policy(*policy)).collect(),
            rule,
            because: Rule::ALL
                .into_iter()
                .find(|known| known.name() == *rule)
                .map_or("", Rule::because),
        }
    }

    fn exceptions(&self, outcomes: &Outcomes) -> Vec<OutcomeException> {
        let exceptions = outcomes.exceptions.iter().map(|row| {
            let (kind, group) = self.kind(row.kind);
            let clusters = self.tables.members(row.clusters);
            let clusters = clusters.filter_map(|position| self.clusters.get(position));
            OutcomeException {
                clusters: clusters.map(|name| (*name).to_owned()).collect(),
                kind,
                group,
                usual: usize::try_from(row.old).ok(),
                here: usize::try_from(row.new).ok(),
                paths: row.on.iter().map(|spot| self.locators.path(spot)).collect(),
            }
        });
        exceptions.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_clusters_that_many_gateways_have_are_held_once() {
        let sources = Sources::default();
        let mut tables = Tables::new(&sources, &["eu-1", "us-1"]);
        tables.of_places = vec![Vec::new(), vec![0], vec![1]];
        let mut names = ClusterNames {
            clusters: &["eu-1", "us-1"],
            known: HashMap::new(),
        };
        let first = names.of(&[1, 2], &mut tables);
        assert_eq!(*first, ["eu-1", "us-1"]);
        assert!(Arc::ptr_eq(&first, &names.of(&[2, 1], &mut tables)));
        assert_eq!(*names.of(&[0, 2], &mut tables), ["us-1"]);
    }
}
