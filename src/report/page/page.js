'use strict';
(async () => {
  const t0 = performance.now();
  const $ = id => document.getElementById(id);
  /* ---------- the data: JSON, compressed, in base64 ---------- */
  const inflate = text => {
    const packed = atob(text),
      bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).json();
  };
  /* ---------- drawing: text nodes only; no markup ever comes from data ---------- */
  // What could hide or reorder text is shown as its code point.
  const HIDDEN = new RegExp(
    String.raw`(?![ \t\n])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}` +
      String.raw`\u{2800}\u{16FE4}\u{1D159}\u{13441}\u{13442}]`,
    'u',
  );
  const hidden = s => '\u27e8U+' + s.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9';
  const plain = s => {
    s = String(s);
    return HIDDEN.test(s) ? s.replace(new RegExp(HIDDEN, 'gu'), hidden) : s;
  };
  function put(e, kids) {
    for (const k of kids) {
      if (k == null || k === false) continue;
      if (Array.isArray(k)) put(e, k);
      else if (k.nodeType) e.appendChild(k);
      else {
        const s = String(k);
        if (!HIDDEN.test(s)) {
          e.appendChild(document.createTextNode(s));
          continue;
        }
        for (const p of s.split(new RegExp('(' + HIDDEN.source + ')', 'u')))
          if (p) e.appendChild(HIDDEN.test(p) ? h('span', { class: 'hid' }, hidden(p)) : document.createTextNode(p));
      }
    }
    return e;
  }
  const SVG = new Set(['svg', 'path', 'rect', 'circle', 'line']);
  function h(tag, at, ...kids) {
    const e = SVG.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    for (const k in at || {}) {
      const v = at[k];
      if (v == null || v === false) continue;
      if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
      else e.setAttribute(k, v === true ? '' : k === 'title' || k === 'aria-label' ? plain(v) : v);
    }
    return put(e, kids);
  }
  const frag = (...k) => put(document.createDocumentFragment(), k);
  const n = (c, one, many) => `${c.toLocaleString('en')} ${c === 1 ? one : many || one + 's'}`;
  const collator = new Intl.Collator('en', { numeric: true });
  const group = (xs, key) => {
    const m = new Map();
    for (const x of xs) {
      const k = key(x);
      if (m.has(k)) m.get(k).push(x);
      else m.set(k, [x]);
    }
    return m;
  };
  /* ---------- the index: the data has names, and what draws has positions, of which -1 is none ---------- */
  function load(J) {
    const split = locator => {
      const [type, rest] = locator.split(/:(.*)/s),
        [key, section] = rest.split(/#(.*)/s),
        slash = key.lastIndexOf('/');
      return { type, key, section, ns: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
    };
    // A kind may be called as what every object of JavaScript has: `constructor`.
    const kindName = type => (Object.hasOwn(J.kindNames, type) ? J.kindNames[type] : type);
    // Positions in a list by keys: a new key gets the next, if its entry can be made.
    const positions = list => {
      const known = new Map();
      return (key, make) => {
        if (!known.has(key) && make) known.set(key, list.push(make()) - 1);
        return known.get(key) ?? -1;
      };
    };
    const [sets, values, backends] = [[], [], []],
      [setAt, valueAt, backendAt] = [sets, values, backends].map(positions);
    const clusterAt = new Map(J.clusters.map((c, i) => [c.name, i])),
      cluster = name => clusterAt.get(name) ?? -1;
    const known = new Map();
    const set = names => {
      const key = names.join();
      if (!known.has(key)) {
        const ix = names.map(cluster).filter(c => c >= 0);
        known.set(key, setAt(ix.sort((x, y) => x - y).join(), () => ix));
      }
      return known.get(key);
    };
    const value = v => (v === undefined ? -1 : valueAt(JSON.stringify(v), () => v));
    const at = x => (x.line === undefined ? null : [x.path, x.line]),
      placed = x => ({ ...x, at: at(x), clusters: x.clusters && set(x.clusters) });
    const backend = locator => {
      const { type, key, section } = split(locator),
        text = `${kindName(type)} ${key}` + (section ? `, port ${section}` : ''),
        of = section && backend(`${type}:${key}`);
      return backendAt(locator, () => ({ text, of }));
    };
    const kindKey = x => `${x.kind.toLowerCase()}.${x.group}`,
      kindAt = new Map(J.kinds.map((k, i) => [kindKey(k), i])),
      kindOf = x => kindAt.get(kindKey(x)) ?? -1;
    const placements = J.placements.map(p => ({
      ...placed(p),
      ns: p.namespace,
      steps: p.steps.map(s => ({ ...s, dropped: s.dropped.map(placed) })),
      evaluated: set(p.decisions.length ? p.decisions.map(d => d.clusterName) : p.clusters),
    }));
    const placementAt = new Map(placements.map((p, i) => [`${p.ns}/${p.name}`, i]));
    const predicted = new Map(J.statuses.map(s => [s.object, s.conditions])),
      reported = new Map(J.reported?.objects.map(s => [s.object, s]));
    // What a locator names: a Gateway with a listener, or a route with a rule.
    const parts = new Map();
    const gateways = J.gateways.map((g, i) => {
      const { type, ns, name } = split(g.gateway),
        work = J.works[g.gateway],
        report = reported.get(g.gateway);
      g.listeners.forEach((l, li) => parts.set(l.listener, { g: i, li }));
      // The one listener of a Service has its locator.
      parts.set(g.gateway, { g: i, li: -1 });
      return {
        ...{ ...placed(g), ns, name },
        kind: type.endsWith('.gateway.networking.k8s.io') ? undefined : kindName(type),
        placement: placementAt.get(g.placement) ?? -1,
        listeners: g.listeners.map(l => ({ ...l, name: split(l.listener).section ?? 'requests inside the mesh' })),
        own: [],
        work: work && { ...work, objects: work.objects.map(placed) },
        conditions: predicted.get(g.gateway),
        reported: report?.conditions,
        addresses: report?.addresses?.map(x => x.value),
      };
    });
    const ruleKinds = J.kinds.flatMap((k, i) => (k.ends === 'route rule' ? [i] : [])),
      rows = new Map();
    const rule = x => ({ ...x, name: split(x.rule).section, b: (x.listedBackends || []).map(backend) });
    const routes = J.routes.map((r, i) => {
      const { type, ns, name } = split(r.route);
      r.rules.forEach((x, ru) => parts.set(x.rule, { r: i, ru }));
      parts.set(r.route, { r: i, ru: -1 });
      // Gateway, listener, an outcome for each rule and kind, those on other paths, and the clusters, if not all.
      const on = r.attached.map(({ listener, clusters }) => {
        const { g, li } = parts.get(listener),
          row = [g, Math.max(li, 0), r.rules.map(() => ruleKinds.map(() => -1)), [], clusters && set(clusters)];
        rows.set([row[0], row[1], i].join(), row);
        return row;
      });
      return { ...placed(r), kind: kindName(type), ns, name, rules: r.rules.map(rule), on };
    });
    // A path: Gateway, listener, route, rule, backend. What only the base has, has no Gateway.
    const spot = (path, findBackend) => {
      const s = [-1, -1, -1, -1];
      for (const [i, locator] of path.entries()) {
        const part = parts.get(locator);
        if (s[2] >= 0 && part?.r !== s[2]) s[4] = findBackend(locator);
        else if (part?.r !== undefined) [s[2], s[3]] = [part.r, part.ru];
        else if (part) [s[0], s[1]] = [part.g, part.li];
        // The first is a class, which is not listed.
        else if (i) return [-1, -1, -1, -1];
        if (s[4] < 0) return [-1, -1, -1, -1];
      }
      return s;
    };
    const changed = path => spot(path, backendAt);
    const here = path => {
      const s = spot(path, backend);
      if (gateways[s[0]].kind && s[2] >= 0) s[1] = 0;
      return s;
    };
    const put = (k, [g, li, r, ru, b = -1], o) => {
      const row = rows.get([g, li, r].join()),
        column = ruleKinds.indexOf(k);
      if (r < 0) gateways[g].own.push([li, k, o]);
      else if (row && column >= 0 && ru >= 0 && b < 0) row[2][ru][column] = o;
      else if (row && !row[3].some(x => x[0] === ru && x[1] === b && x[2] === k)) row[3].push([ru, b, k, o]);
    };
    const spots = J.outcomes.map(o => o.paths.map(here));
    J.outcomes.forEach((o, i) => spots[i].forEach(s => put(kindOf(o), s, i)));
    const exceptions = J.exceptions.map(x => {
      const [clusters, kind, on] = [set(x.clusters), kindOf(x), x.paths.map(here)];
      if (x.usual === undefined) on.forEach(s => put(kind, s, -1));
      return { clusters, kind, old: x.usual ?? -1, new: x.here ?? -1, on };
    });
    gateways.forEach(g => g.own.sort((x, y) => x[1] - y[1] || x[0] - y[0]));
    rows.forEach(row => row[3].sort((x, y) => x[2] - y[2] || x[0] - y[0] || x[1] - y[1]));
    // Policies of the hub by name, and those that live on clusters by name and cluster.
    const ofHub = new Map(),
      local = new Map();
    J.policies.forEach((p, i) => {
      if (!p.local) return ofHub.set(p.policy, ofHub.get(p.policy) ?? i);
      const there = local.get(p.policy) || new Map();
      p.clusters.forEach(name => there.set(cluster(name), i));
      return local.set(p.policy, there);
    });
    const target = locator => {
      const { type, key, section } = split(locator),
        part = parts.get(locator);
      if (part?.r !== undefined) return ['r', part.r, part.ru];
      if (part && !gateways[part.g].kind) return ['g', part.g, part.li];
      const named = { namespace: 'n', 'gatewayclass.gateway.networking.k8s.io': 'c', 'mesh.istio.io': 'm' }[type];
      if (named) return [named, key];
      const g = J.gateways.findIndex(x => x.listeners.some(l => l.listener.startsWith(locator + '#')));
      if (g >= 0) return ['s', g, `${kindName(type)} ${key}`];
      // What is on other clusters than the page.
      const isElsewhere = /^(gateway|\w*listenerset|\w+route)\./.test(type);
      return isElsewhere ? ['x', `${kindName(type)} ${key}${section ? '#' + section : ''}`] : ['b', backend(locator)];
    };
    // Paths, settings (name, before, after, and whose it is then), and the clusters, if not all.
    const without = x => {
      const on = x.paths.map(changed),
        names = x.clusters || [],
        there = set(names),
        all = on[0][0] < 0 ? 0 : sets[gateways[on[0][0]].clusters].length;
      const settings = x.settings.map(s => [s.setting, value(s.old), value(s.new), ofHub.get(s.newFrom) ?? -1]);
      if (names.length && !sets[there].length) return [];
      return [[on, settings, sets[there].length < all ? there : undefined]];
    };
    const policies = J.policies.map(p => {
      const { type, ns, name } = split(p.policy),
        c = p.local ? cluster(p.clusters[0]) : -1,
        changes = p.local ? undefined : J.ifDeleted[p.policy];
      return {
        ...{ ...placed(p), ns, name },
        kind: kindAt.get(type) ?? 0,
        targets: [...p.targets.map(target), ...(p.missingTargets || []).map(x => ['x', x])],
        cluster: c < 0 ? undefined : c,
        reported: p.local ? undefined : reported.get(p.policy)?.conditions,
        ifDeleted: changes?.flatMap(without),
        morePaths: changes?.reduce((sum, x) => sum + x.more, 0),
      };
    });
    // A cluster where an outcome holds, on which its policies may live.
    const somewhere = i => {
      const x = exceptions.find(x => x.new === i),
        s = spots[i][0];
      if (x || !s) return x && sets[x.clusters][0];
      const only = rows.get(s.slice(0, 3).join())?.[4],
        others = exceptions.filter(x => x.old === i && x.on.some(y => y.join() === s.join()));
      return sets[only ?? gateways[s[0]].clusters].find(c => !others.some(x => sets[x.clusters].includes(c)));
    };
    // Settings: name, value, policy, and place; of those that lost, also who took its place, and why.
    const outcomes = J.outcomes.map((o, i) => {
      let c;
      const policy = locator => {
        const there = local.get(locator);
        return there?.get((c ??= somewhere(i))) ?? ofHub.get(locator) ?? there?.values().next().value;
      };
      const four = s => [s.setting, value(s.value), policy(s.policy)];
      return {
        open: o.open,
        set: o.settings.map(s => [...four(s), at(s)]),
        lost: o.overridden.map(s => [...four(s), s.by.map(policy), s.because, at(s)]),
      };
    });
    // Policy, cluster, what is there instead, and why.
    const withheld = J.withheld
      .map(w => [ofHub.get(w.policy), cluster(w.cluster), local.get(w.winner)?.get(cluster(w.cluster)), w.because])
      .filter(w => w[0] !== undefined && w[1] >= 0 && w[2] !== undefined)
      .sort((x, y) => x[0] - y[0] || x[1] - y[1] || x[2] - y[2])
      .filter((w, i, all) => !i || all[i - 1].join() !== w.join());
    // Changes of settings that are equal but for where they are.
    const effective = (report, settings) => {
      const all = new Map(),
        named = locators => locators.map(x => [split(x).key, ofHub.get(x) ?? -1]);
      report.effectiveChanges.forEach((e, i) => {
        const ch = settings[i].map(s => [s.setting, value(s.old), value(s.new)]),
          [oldPolicies, newPolicies] = [e.oldPolicies, e.newPolicies].map(named),
          row = { kind: kindOf(e), kindName: e.kind, oldPolicies, newPolicies };
        // What is added is last.
        row.ch = ch.sort((x, y) => (x[1] < 0 ? 1 : 0) - (y[1] < 0 ? 1 : 0));
        const key = JSON.stringify([row, e.group]),
          there = set(e.clusters);
        if (!all.has(key)) all.set(key, { ...row, where: new Map() });
        const { where } = all.get(key);
        if (!where.has(there)) where.set(there, []);
        where.get(there).push(changed(e.path));
      });
      return [...all.values()].map(row => ({ ...row, where: [...row.where] }));
    };
    const changedObject = x => {
      const mine = x.origins.find(o => o.side === 'new'),
        isGateway = x.kind === 'Gateway' && x.group === 'gateway.networking.k8s.io' && mine,
        gw = isGateway && gateways.find(g => at(mine).join() === g.at?.join()),
        gone = x.clusters.filter(name => cluster(name) < 0),
        [origin] = x.origins;
      return {
        ...placed(x),
        ns: x.namespace,
        gone: gone.map(name => name.replace(/^_replica-sets\/*/, 'the hub, in ').replace(/^_hub$/, 'the hub')),
        at: origin && [origin.path, origin.line, origin.side],
        gateway: gw && `${gw.ns}/${gw.name}`,
        fields: x.fields.map(f => [f.path, value(f.old), value(f.new)]),
      };
    };
    const change = ({ report, settings, tooMuch }) => ({
      ...report,
      tooMuch,
      clusters: report.clusters.map(x => ({ ...x, clusters: set(x.names) })),
      effective: effective(report, settings),
      objects: report.changes.map(changedObject),
    });
    const problem = x => {
      const parent = gateways.findIndex(g => `${g.ns}/${g.name}` === x.parent),
        named = o => `${o.kind} ${o.namespace ? o.namespace + '/' : ''}${o.name}: ${o.message}`;
      return {
        ...x,
        cluster: cluster(x.cluster),
        on: x.cluster,
        state: J.reported.words[x.state],
        objects: (x.manifests || []).map(named),
        // Nothing shows who owns a work that does not exist.
        gateway: parent < 0 ? gateways.findIndex(g => g.work?.name === `ManifestWork ${x.work}`) : parent,
      };
    };
    const violation = v => {
      const { g, r } = parts.get(v.object) || {},
        p = ofHub.get(v.object) ?? local.get(v.object)?.values().next().value;
      return { ...placed(v), g, r, p };
    };
    const taint = t => `${t.key}${t.value ? '=' + t.value : ''}:${t.effect}`,
      overlaid = f => [f.path, value(f.hub), value(f.here)];
    return {
      ...J,
      clusters: J.clusters.map(c => ({ ...c, at: at(c), taints: [c.taints || []].flat().map(taint) })),
      overlays: J.overlays.map(v => ({ ...placed(v), fields: v.fields.map(overlaid) })),
      rules: J.rules.map(r => ({ ...placed(r), name: split(r.rule).name, violations: r.violations.map(violation) })),
      coverage: J.coverage.map((c, i) => ({ ...c, k: kindOf(c), of: r => J.routeCoverage[r.route]?.[i] })),
      findings: J.findings.map(placed),
      texts: [...J.texts, ...J.policyTexts],
      change: J.change && change(J.change),
      works: J.reported && { ...J.reported.works, problems: J.reported.works.problems.map(problem) },
      ...{ sets, values, backends, ruleKinds, placements, gateways, routes, outcomes, exceptions, policies, withheld },
    };
  }
  const D = load(await inflate($('data').textContent));
  /* ---------- clusters ---------- */
  const C = D.clusters,
    ALL = C.length;
  const members = s => D.sets[s];
  const setHas = [];
  const inSet = (s, c) => (setHas[s] ||= new Set(members(s))).has(c);
  const byName = (a, b) => collator.compare(C[a].name, C[b].name);
  const labelSets = (() => {
    const m = new Map();
    C.forEach((c, i) => {
      for (const k in c.labels) {
        if (k.endsWith('/clusterset')) continue;
        const t = `${k.split('/').pop()} ${c.labels[k]}`;
        if (!m.has(t)) m.set(t, new Set());
        m.get(t).add(i);
      }
    });
    const one = [...m].filter(([, s]) => s.size > 1 && s.size < ALL).slice(0, 40),
      r = [...one];
    for (let a = 0; a < one.length && one.length < 20; a++)
      for (let b = a + 1; b < one.length; b++) {
        const s = new Set([...one[a][1]].filter(x => one[b][1].has(x)));
        if (s.size > 1 && s.size < one[a][1].size && s.size < one[b][1].size)
          r.push([[one[a][0], one[b][0]].sort().join(', '), s]);
      }
    return r.sort((x, y) => x[0].length - y[0].length);
  })();
  // A name for a set of clusters that a person would use.
  function nearest(ix) {
    if (ix.length === ALL) return null;
    let best = null;
    for (const [t, s] of labelSets) {
      if (s.size < ix.length || s.size - ix.length > Math.min(3, ix.length / 3)) continue;
      if (!ix.every(x => s.has(x))) continue;
      const miss = [...s].filter(x => !ix.includes(x));
      if (!best || miss.length < best[1].length) best = [t, miss];
      if (!miss.length) break;
    }
    return best;
  }
  const named = ix => {
    const b = nearest(ix);
    return b && (b[1].length ? `${b[0]} without ${b[1].map(i => C[i].name).join(', ')}` : b[0]);
  };
  // The same in two short lines, for a column of the map.
  function headText(ix) {
    if (ix.length === 1) return [C[ix[0]].name, ''];
    if (ix.length === ALL) return ['all', n(ALL, 'cluster')];
    const b = nearest(ix);
    return b
      ? [
          b[0]
            .split(', ')
            .map(x => x.split(' ').pop())
            .join(' '),
          b[1].length ? `${ix.length} of ${ix.length + b[1].length}` : n(ix.length, 'cluster'),
        ]
      : [C[lead(ix)].name, `+${(ix.length - 1).toLocaleString('en')}`];
  }
  const familyOf = C.map(c => (c.name.match(/^(.*?)[-.]?\d+$/) || [, ''])[1]);
  // The first of the family that most of them belong to stands for all of them.
  function lead(ix) {
    const m = group(ix, i => familyOf[i]);
    return [...m.values()].sort((x, y) => y.length - x.length || byName(x[0], y[0]))[0].sort(byName)[0];
  }
  function clusterText(ix, long) {
    ix = [...ix].sort(byName);
    if (!ix.length) return 'no cluster';
    if (ix.length === ALL) return ALL === 1 ? C[0].name : `all ${ALL.toLocaleString('en')} clusters`;
    if (ix.length <= 3) return ix.map(i => C[i].name).join(', ');
    const nm = long && named(ix);
    return `${C[lead(ix)].name} and ${(ix.length - 1).toLocaleString('en')} more` + (nm ? ` (${nm})` : '');
  }
  /* ---------- outcomes ---------- */
  const K = D.kinds;
  // Two products may use one kind's name.
  const kindNames = group(K, k => k.kind);
  for (const alike of kindNames.values()) if (alike.length > 1) alike.forEach(k => (k.kind += '.' + k.group));
  const short = k => K[k].kind.replace(/Policy$/, '') || K[k].kind;
  const kc = k => 'k' + (k < 0 ? 6 : k % 8);
  const ruleAt = new Map(D.ruleKinds.map((k, i) => [k, i]));
  const own = D.gateways.map(g => new Map(g.own.map(([li, k, o]) => [li + '|' + k, o])));
  function base(k, g, li, on, ru) {
    if (ruleAt.has(k)) return on ? on[2][ru][ruleAt.get(k)] : -1;
    const o = own[g].get((K[k].ends === 'Gateway' ? -1 : li) + '|' + k);
    return o === undefined ? -1 : o;
  }
  // What holds for a rule: one outcome, or one for each backend, of kinds whose paths end there.
  function held(k, g, li, on, r, ru) {
    if (K[k].ends !== 'Backend') return [{ b: -1, o: base(k, g, li, on, ru) }];
    const there = (on[3] || []).filter(x => x[0] === ru && x[2] === k).map(x => ({ b: x[1], o: x[3] }));
    for (const b of R[r].rules[ru].b || [])
      if (!there.some(x => x.b === b || (x.b >= 0 && B[x.b].of === b))) there.push({ b, o: -1 });
    return there;
  }
  // A policy that lets everybody in on purpose holds, and covers nothing.
  // No setting holds where a policy is empty, or its controller refuses it.
  const covers = o => o >= 0 && !O[o].open && O[o].set.length > 0;
  const onClusters = on => members(on[4] == null ? G[on[0]].clusters : on[4]);
  const exc = new Map(),
    excGw = new Map();
  D.exceptions.forEach((x, i) => {
    for (const spot of x.on) {
      const g = spot[0],
        key = [x.kind, ...spot].join('|');
      if (!exc.has(key)) exc.set(key, []);
      exc.get(key).push(x);
      if (!excGw.has(g)) excGw.set(g, new Set());
      excGw.get(g).add(i);
    }
  });
  const excRt = new Map(),
    excGl = new Map();
  D.exceptions.forEach((x, i) => {
    for (const [g, li, r] of x.on) {
      const m = r >= 0 ? excRt : excGl,
        key = (r >= 0 ? r : g + '|' + li) + '|' + x.kind;
      if (!m.has(key)) m.set(key, new Set());
      m.get(key).add(i);
    }
  });
  const excOfRoute = (r, k) => {
    const s = new Set(excRt.get(r + '|' + k));
    for (const on of R[r].on)
      for (const li of [on[1], -1]) for (const i of excGl.get(`${on[0]}|${li}|${k}`) || []) s.add(i);
    return s;
  };
  function excAt(k, g, li, r, ru, b = -1) {
    const spot =
      K[k].ends === 'listener'
        ? [li, -1, -1]
        : K[k].ends === 'Gateway'
          ? [-1, -1, -1]
          : b < 0
            ? [li, r, ru]
            : [li, r, ru, b];
    return exc.get([k, g, ...spot].join('|')) || [];
  }
  const P = D.policies,
    R = D.routes,
    G = D.gateways,
    B = D.backends,
    O = D.outcomes;
  const routesOf = G.map(() => []);
  R.forEach((r, i) => r.on.forEach(on => routesOf[on[0]].push([i, on])));
  // policy -> where it holds and where it loses, from the outcomes
  const uses = P.map(() => ({ holds: [], partly: [], lost: [], by: new Map(), onSome: new Set() }));
  (() => {
    const role = O.map(o => {
      const m = new Map();
      for (const s of o.set) m.set(s[2], 1);
      for (const l of o.lost) {
        m.set(l[2], (m.get(l[2]) || 0) | 2);
      }
      return m;
    });
    const add = (oc, g, li, r, ru) => {
      if (oc < 0) return;
      for (const [p, v] of role[oc]) {
        const u = uses[p];
        (v === 1 ? u.holds : v === 2 ? u.lost : u.partly).push([g, li, r, ru]);
        if (v & 2) for (const l of O[oc].lost) if (l[2] === p) l[3].forEach(b => u.by.set(b, l[4]));
      }
    };
    G.forEach((gw, g) => gw.own.forEach(([li, k, o]) => add(o, g, li, -1, -1)));
    R.forEach((r, i) =>
      r.on.forEach(on => {
        on[2].forEach((os, ru) => os.forEach(o => add(o, on[0], on[1], i, ru)));
        (on[3] || []).forEach(x => add(x[3], on[0], on[1], i, x[0]));
      }),
    );
    D.exceptions.forEach(x => {
      if (x.new >= 0)
        for (const [p, v] of role[x.new]) {
          const u = uses[p];
          if (P[p].cluster !== undefined) {
            const l = v === 2 ? u.lost : u.holds;
            x.on.forEach(a => l.push(a));
          } else if (v & 2) u.onSome.add(x);
        }
    });
  })();
  function policyState(p) {
    const u = uses[p],
      t = [...u.holds, ...u.partly, ...u.lost].length;
    if (!t) return ['bad', 'on no path'];
    if (!u.holds.length && !u.partly.length) return ['bad', 'overridden everywhere'];
    if (u.partly.length || u.lost.length) return ['warn', 'in effect in part'];
    return ['ok', 'in effect'];
  }
  const isLocal = p => P[p].cluster !== undefined;
  const livesOn = p => (isLocal(p) ? members(P[p].clusters) : []);
  const replaced = p => D.withheld.filter(w => w[0] === p);
  /* ---------- names and links ---------- */
  const enc = encodeURIComponent;
  const gwHash = g => `#/gateway/${enc(G[g].ns)}/${enc(G[g].name)}`;
  const rtHash = r =>
    `#/route/${enc(R[r].ns)}/${enc(R[r].name)}` +
    (sameName.get(R[r].ns + '/' + R[r].name) > 1 ? `?kind=${R[r].kind.toLowerCase()}` : '');
  const sameName = new Map();
  R.forEach(r => {
    const k = r.ns + '/' + r.name;
    sameName.set(k, (sameName.get(k) || 0) + 1);
  });
  const poHash = p =>
    `#/policy/${enc(K[P[p].kind].kind.toLowerCase())}/${enc(P[p].ns)}/${enc(P[p].name)}` +
    (P[p].cluster !== undefined ? `?on=${enc(C[P[p].cluster].name)}` : '');
  const clHash = c => `#/cluster/${enc(C[c].name)}`;
  const plHash = i => `#/placement/${enc(D.placements[i].ns)}/${enc(D.placements[i].name)}`;
  const a = (href, ...k) => h('a', { href }, ...k);
  const clusterLinks = (ix, max = 3) => {
    ix = [...ix].sort(byName);
    return ix.length <= max ? ix.map((c, i) => [i ? ', ' : '', a(clHash(c), C[c].name)]) : clusterText(ix, true);
  };
  function nameList(ix) {
    ix = [...ix].sort(byName);
    return h(
      'ul',
      { class: 'names' },
      ix.map(c => h('li', null, a(clHash(c), C[c].name))),
    );
  }
  const LEVEL = {
    g: 'gateway',
    l: 'listener',
    r: 'route',
    u: 'rule',
    b: 'backend',
    n: 'namespace',
    c: 'class',
    m: 'mesh',
  };
  const targetLevel = t =>
    t[0] === 'g'
      ? t[2] >= 0
        ? 'l'
        : 'g'
      : t[0] === 's'
        ? 'l'
        : t[0] === 'r'
          ? t[2] >= 0
            ? 'u'
            : 'r'
          : t[0] === 'x'
            ? ''
            : t[0];
  const levelOf = (p, g) => {
    let best = '';
    for (const t of P[p].targets) {
      const l = targetLevel(t);
      if (l && (g === undefined || (t[0] !== 'g' && t[0] !== 's') || t[1] === g)) best = l;
    }
    return best;
  };
  function chip(p, opt = {}) {
    const q = P[p],
      loc = q.cluster !== undefined,
      full = `${K[q.kind].kind} ${q.ns}/${q.name}`;
    return h(
      'a',
      {
        class: `chip ${kc(q.kind)}${opt.lost ? ' lost' : ''}${loc ? ' isl' : ''}`,
        href: poHash(p),
        title: full + (loc ? `, lives on ${clusterText(livesOn(p))}` : '') + (opt.title ? `: ${opt.title}` : ''),
      },
      h('span', null, opt.full ? `${q.ns}/${q.name}` : q.name),
      opt.note && h('small', null, opt.note),
      opt.lost && h('span', { class: 'sr' }, ' (overridden)'),
    );
  }
  const settingName = s =>
    s.startsWith('/')
      ? s
          .slice(1)
          .split('/')
          .map(x => x.replace(/~1/g, '/').replace(/~0/g, '~'))
          .join('.')
      : s.replace('#', ' \u203a ');
  /* ---------- values ---------- */
  const isRate = v =>
    v && typeof v === 'object' && !Array.isArray(v) && 'limit' in v && 'window' in v && Object.keys(v).length === 2;
  const isOne = v =>
    v &&
    typeof v === 'object' &&
    !Array.isArray(v) &&
    Object.keys(v).length === 1 &&
    ('predicate' in v || 'expression' in v) &&
    typeof Object.values(v)[0] !== 'object';
  function brief(v) {
    if (v == null || typeof v !== 'object') return String(v);
    if (isRate(v)) return `${v.limit} per ${v.window}`;
    if (isOne(v)) return String(Object.values(v)[0]);
    if (Array.isArray(v)) return v.map(brief).join(', ');
    if (typeof v.name === 'string') return v.name;
    if (v.rates) return brief(v.rates);
    const k = Object.keys(v),
      leaf = x => {
        if (x === null || typeof x !== 'object') return String(x);
        if (isRate(x) || isOne(x)) return brief(x);
        for (const y of Object.values(x)) {
          if (y === false) continue;
          const z = leaf(y);
          if (z) return z;
        }
        return '';
      };
    if (!k.length) return '{}';
    const l = leaf(v[k[0]]);
    return k[0] + (l ? ' ' + (l.length > 64 ? l.slice(0, 61) + '\u2026' : l) : '') + (k.length > 1 ? ', \u2026' : '');
  }
  // An outcome in a few words; settings below one field are one.
  function briefs(o) {
    const m = new Map();
    for (const s of O[o].set) {
      const v = D.values[s[1]];
      if (!s[0].startsWith('/')) {
        m.set(s[0].split('#').pop(), v);
        continue;
      }
      const p = s[0]
        .slice(1)
        .split('/')
        .map(x => x.replace(/~1/g, '/').replace(/~0/g, '~'));
      if (p.length === 1) {
        m.set(p[0], v);
        continue;
      }
      let t = m.get(p[0]);
      if (!t || typeof t !== 'object') m.set(p[0], (t = {}));
      for (const x of p.slice(1, -1)) t = t[x] = t[x] && typeof t[x] === 'object' ? t[x] : {};
      t[p[p.length - 1]] = v;
    }
    return [...m];
  }
  function valueLines(v, ind, out) {
    const pad = '  '.repeat(ind),
      scalar = x =>
        x == null ||
        typeof x !== 'object' ||
        isRate(x) ||
        isOne(x) ||
        (Array.isArray(x) && x.every(y => y === null || typeof y !== 'object'));
    const one = x =>
      x !== null && typeof x === 'object' && !Array.isArray(x) ? brief(x) : Array.isArray(x) ? x.join(', ') : String(x);
    if (scalar(v)) return out.push([pad, null, one(v)]);
    if (Array.isArray(v)) {
      for (const x of v)
        if (scalar(x)) out.push([pad, null, one(x)]);
        else {
          const sub = [];
          valueLines(x, 0, sub);
          sub.forEach((l, i) => out.push([pad + (i ? '  ' : '- ') + l[0], l[1], l[2]]));
        }
      return;
    }
    for (const k in v)
      if (scalar(v[k])) out.push([pad, k, one(v[k])]);
      else if (Array.isArray(v[k]) && v[k].length === 1 && scalar(v[k][0])) out.push([pad, k, one(v[k][0])]);
      else {
        out.push([pad, k, '']);
        valueLines(v[k], ind + 1, out);
      }
  }
  function valueBox(i) {
    if (i < 0) return h('span', { class: 'muted' }, '\u2014');
    const l = [];
    valueLines(D.values[i], 0, l);
    return h(
      'div',
      { class: 'val' },
      l.map((x, j) => [
        j ? '\n' : '',
        x[0],
        x[1] !== null && h('span', { class: 'k' }, x[1] + (x[2] !== '' ? ': ' : '')),
        x[2],
      ]),
    );
  }
  /* ---------- places in files ---------- */
  const textOf = group(D.texts, x => x.path);
  const excerpt = (f, l) =>
    (textOf.get(f) || [])
      .map(x => [x.line, x.text.split('\n')])
      .find(([first, ls]) => l >= first && l < first + ls.length);
  function codeBox(ex, line, marks) {
    return h(
      'pre',
      { class: 'codebox', tabindex: 0, 'aria-label': 'source' },
      ex[1].map((t, i) =>
        h(
          'span',
          {
            class:
              'l' +
              (ex[0] + i === line || (marks && marks.has(ex[0] + i)) ? ' hl' : '') +
              (/^\s*#/.test(t) ? ' cm' : ''),
            'data-n': ex[0] + i,
          },
          t || ' ',
        ),
      ),
    );
  }
  function src(at, lab) {
    if (!at) return null;
    const t = `${at[0]}:${at[1]}`;
    return h(
      'button',
      { class: 'src', type: 'button', title: 'Show the source', onclick: () => showSource(at) },
      lab || t,
    );
  }
  /* ---------- ClusterOverlays ---------- */
  const overlaysOf = group(D.overlays, v => v.object);
  const overlaysOn = (kind, gr, ns, name) => overlaysOf.get(`${kind.toLowerCase()}.${gr}:${ns}/${name}`) || [];
  const overlaysOnPolicy = p => {
    const { kind, group } = K[P[p].kind];
    return isLocal(p) ? [] : overlaysOn(kind, group, P[p].ns, P[p].name);
  };
  const overlaysOnGw = (kind, ns, name) => overlaysOn(kind, 'gateway.networking.k8s.io', ns, name);
  // Those that give clusters another outcome than most have.
  const overlaysBehind = x =>
    x.new < 0
      ? []
      : [...new Set(O[x.new].set.map(s => s[2]))]
          .flatMap(overlaysOnPolicy)
          .filter(v => inSet(v.clusters, members(x.clusters)[0]));
  const locatorText = l => l.replace(/\..*?:|:/, '/');
  const overlayFields = v =>
    v.fields.map(([path, hub, here], i) => [
      i ? ', ' : '',
      h('code', null, path),
      ': ',
      hub < 0 ? 'nothing' : brief(D.values[hub]),
      ' \u2192 ',
      here < 0 ? 'nothing' : brief(D.values[here]),
    ]);
  const overlayList = (vs, text) =>
    vs.map(v =>
      h(
        'div',
        { class: 'elsewhere overlaid' },
        h('b', null, locatorText(v.overlay)),
        ' ',
        text(v),
        overlayFields(v),
        ' ',
        src(v.at),
      ),
    );
  const overlaidWhere = vs =>
    vs.length
      ? h(
          'div',
          { class: 'card kind differs overlaid' },
          overlayList(vs, v => `changes it on ${clusterText(members(v.clusters))}: `),
        )
      : '';
  const WHY_DIFFERENT = [
    [...P, ...G, ...R].some(x => x.local || x.cluster !== undefined) && 'local objects',
    D.overlays.length && 'overlays',
  ]
    .filter(Boolean)
    .join(' or ');
  let dlg;
  function showSource(at) {
    const t = `${at[0]}:${at[1]}`,
      ex = excerpt(...at);
    if (dlg) dlg.remove();
    const url =
      D.sourceUrl && /^https?:\/\//.test(D.sourceUrl)
        ? D.sourceUrl + at[0].split('/').map(enc).join('/') + '#L' + at[1]
        : null;
    const copy = h(
      'button',
      {
        class: 'btn',
        type: 'button',
        onclick: async () => {
          try {
            await navigator.clipboard.writeText(t);
            copy.textContent = 'Copied';
          } catch {
            copy.textContent = 'Press Ctrl-C';
            const s = getSelection();
            s.selectAllChildren(dlg.querySelector('b'));
          }
        },
      },
      'Copy place',
    );
    dlg = h(
      'dialog',
      { 'aria-label': t },
      h(
        'header',
        null,
        h('b', null, t),
        url && h('a', { class: 'btn', href: url, rel: 'noreferrer' }, 'Open'),
        copy,
        h('button', { class: 'icon', type: 'button', 'aria-label': 'Close', onclick: () => dlg.close() }, '\u2715'),
      ),
      ex
        ? codeBox(ex, at[1])
        : h('p', { class: 'pad muted' }, 'The text of this object is not part of the page, to keep it small.'),
    );
    dlg.addEventListener('click', e => {
      if (e.target === dlg) dlg.close();
    });
    document.body.append(dlg);
    dlg.showModal();
    const m = dlg.querySelector('.hl');
    if (m) m.scrollIntoView({ block: 'center' });
  }
  /* ---------- long tables: drawn in portions, whole when printed ---------- */
  const pending = new Set();
  function portions(body, rows, draw, size = 150) {
    let i = 0;
    const more = h('button', { class: 'btn more noprint', type: 'button' });
    const step = k => {
      const f = document.createDocumentFragment();
      const end = Math.min(rows.length, i + k);
      for (; i < end; i++) put(f, [draw(rows[i], i)]);
      body.append(f);
      if (i >= rows.length) {
        more.remove();
        io.disconnect();
        pending.delete(all);
      } else more.textContent = `Show more (${(rows.length - i).toLocaleString('en')} left)`;
    };
    const all = () => step(Infinity);
    pending.add(all);
    const io = new IntersectionObserver(
      e => {
        if (e[0].isIntersecting) step(size);
      },
      { rootMargin: '600px' },
    );
    more.addEventListener('click', () => step(size));
    step(size);
    if (i < rows.length) io.observe(more);
    return i < rows.length ? more : null;
  }
  addEventListener('beforeprint', () => {
    [...pending].forEach(f => f());
    document.querySelectorAll('main details').forEach(d => {
      d.open = true;
    });
  });
  /* ---------- the fleet as dots ---------- */
  const families = (() => {
    const m = group(C.map((_, i) => i).sort(byName), i => familyOf[i]);
    return m.size > 14 ? [['', C.map((_, i) => i).sort(byName)]] : [...m];
  })();
  function waffle(state, words, label) {
    // state(c) -> 0..5
    const per = (ALL > 300 ? 80 : 40) / (innerWidth < 700 ? 2 : 1),
      cell = ALL > 300 ? 8 : 14,
      s = cell - 2;
    const box = h('div', { class: 'waffle' }),
      cap = h('span', { 'aria-hidden': 'true' }),
      seen = new Set();
    for (const [fam, ix] of families) {
      const rows = Math.ceil(ix.length / per),
        paths = {};
      ix.forEach((c, i) => {
        const st = state(c);
        seen.add(st);
        (paths[st] = paths[st] || []).push(`M${(i % per) * cell} ${Math.floor(i / per) * cell}h${s}v${s}h-${s}z`);
      });
      const svg = h(
        'svg',
        { viewBox: `0 0 ${per * cell} ${rows * cell}`, 'aria-hidden': 'true' },
        Object.keys(paths).map(k => h('path', { class: 'w' + k, d: paths[k].join('') })),
      );
      const at = e => {
        const b = svg.getBoundingClientRect(),
          x = Math.floor(((e.clientX - b.left) / b.width) * per),
          y = Math.floor(((e.clientY - b.top) / b.height) * rows);
        return ix[y * per + x];
      };
      svg.addEventListener('mousemove', e => {
        const c = at(e);
        cap.textContent = c === undefined ? '' : `${C[c].name}: ${words[state(c)]}`;
        svg.style.cursor = c === undefined ? '' : 'pointer';
      });
      svg.addEventListener('mouseleave', () => {
        cap.textContent = '';
      });
      svg.addEventListener('click', e => {
        const c = at(e);
        if (c !== undefined) location.hash = clHash(c);
      });
      box.append(h('span', { class: 'lab' }, fam || 'clusters', ' ', h('span', { class: 'small' }, ix.length)), svg);
    }
    return h(
      'div',
      null,
      h('span', { class: 'sr' }, label),
      box,
      h(
        'div',
        { class: 'wl' },
        [...seen]
          .sort()
          .map(k =>
            h(
              'span',
              null,
              h(
                'svg',
                { viewBox: '0 0 10 10', 'aria-hidden': 'true' },
                h('rect', { class: 'w' + k, width: 10, height: 10, rx: 2 }),
              ),
              words[k],
            ),
          ),
        cap,
      ),
    );
  }
  /* ---------- coverage, as `policies --coverage` counts it ---------- */
  const coverage = new Map(D.coverage.filter(c => c.k >= 0).map(c => [c.k, c]));
  function cells(r) {
    // per kind: how it covers the route, whether a policy there lets everybody in, and the policies
    const rt = R[r];
    return K.map((_, k) => {
      let open = false;
      const ps = new Map();
      for (const on of rt.on)
        rt.rules.forEach((_, ru) => {
          for (const { o } of held(k, on[0], on[1], on, r, ru)) {
            if (o < 0) continue;
            open ||= O[o].open;
            for (const s of O[o].set) if (!ps.has(s[2])) ps.set(s[2], levelOf(s[2], on[0]));
          }
        });
      return { st: coverage.get(k)?.of(rt) ?? (ps.size ? 'covered' : 'none'), open, ps };
    });
  }
  let covCache;
  const cov = () => covCache || (covCache = R.map((_, r) => cells(r)));
  const W = D.works;
  const problemsOn = c => W.problems.filter(x => x.cluster === c);
  /* ---------- views ---------- */
  const V = {};
  const head = (crumb, title, at, ...more) => [
    h('div', { class: 'crumb' }, crumb),
    h('h1', { tabindex: -1 }, title),
    h('div', { class: 'row small' }, src(at), ...more),
  ];
  const table = (caption, heads, body, cls) =>
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
      h(
        'table',
        { class: cls || '' },
        h('caption', { class: 'sr' }, caption),
        heads &&
          h(
            'thead',
            null,
            h(
              'tr',
              null,
              heads.map(x => (x && x.nodeType ? x : h('th', { scope: 'col' }, x))),
            ),
          ),
        body,
      ),
    );

  function clusterGroups() {
    // clusters that receive the same Gateways
    const sig = C.map(() => []);
    G.forEach((g, i) => members(g.clusters).forEach(c => sig[c].push(i)));
    const m = group(C.map((_, i) => i).sort(byName), c => sig[c].join(','));
    return [...m]
      .map(([k, ix]) => ({ ix, gws: k ? k.split(',').map(Number) : [] }))
      .sort((x, y) => y.gws.length - x.gws.length || y.ix.length - x.ix.length);
  }
  const excClusters = g => {
    const s = new Set();
    for (const i of excGw.get(g) || []) members(D.exceptions[i].clusters).forEach(c => s.add(c));
    return s;
  };

  function worth() {
    const w = [];
    for (const [k, c] of coverage) {
      const { kind } = K[k];
      if (c.gaps && c.expected)
        w.push([
          /auth/i.test(kind) ? 'bad' : 'warn',
          c.gaps,
          `${c.gaps === 1 ? 'route has' : 'routes have'} a path without ${kind}`,
          `${c.covered.toLocaleString('en')} of ${c.routes.toLocaleString('en')} are covered`,
          `#/routes?gap=${enc(kind)}`,
        ]);
      if (c.open)
        w.push([
          'warn',
          c.open,
          `${c.open === 1 ? 'route lets' : 'routes let'} everybody in`,
          `on purpose, by ${kind}`,
          '#/routes?gap=open',
        ]);
    }
    const ex = new Set();
    D.exceptions.forEach(x => members(x.clusters).forEach(c => ex.add(c)));
    if (ex.size)
      w.push([
        'local',
        ex.size,
        `${ex.size === 1 ? 'cluster differs' : 'clusters differ'} because of ${WHY_DIFFERENT}`,
        clusterText(ex),
        ex.size === 1 ? clHash([...ex][0]) : '#/clusters',
      ]);
    const idle = P.map((_, p) => p).filter(p => policyState(p)[0] === 'bad');
    if (idle.length)
      w.push([
        'warn',
        idle.length,
        `${idle.length === 1 ? 'policy is' : 'policies are'} in effect nowhere`,
        idle
          .slice(0, 2)
          .map(p => P[p].name)
          .join(', ') + (idle.length > 2 ? ' and more' : ''),
        '#/policies?state=bad',
      ]);
    if (W && (W.problems.length || W.applied < W.planned)) {
      const states = [...new Set(W.problems.map(x => x.state))];
      w.push([
        'bad',
        Math.max(W.problems.length, W.planned - W.applied),
        'works are not as planned',
        states.slice(0, 3).join(', '),
        '#/reported',
      ]);
    }
    const un = R.filter(r => !r.on.length).length;
    if (un)
      w.push([
        'warn',
        un,
        `${un === 1 ? 'route is' : 'routes are'} attached to no Gateway`,
        '',
        '#/routes?gap=attached',
      ]);
    for (const sev of ['error', 'warning']) {
      const f = D.findings.filter(x => x.severity === sev);
      if (f.length)
        w.push([
          sev === 'error' ? 'bad' : 'warn',
          f.length,
          sev + (f.length === 1 ? '' : 's'),
          (cs => cs.slice(0, 2).join(', ') + (cs.length > 2 ? ' and more' : ''))([...new Set(f.map(x => x.code))]),
          '#/findings',
        ]);
    }
    const order = { bad: 0, local: 1, warn: 2 };
    return w.sort((x, y) => order[x[0]] - order[y[0]]);
  }
  V.overview = () => {
    const np = P.filter((_, p) => !isLocal(p)).length,
      nl = P.length - np,
      w = worth(),
      cg = clusterGroups().filter(x => x.gws.length);
    const out = [
      h('h1', { tabindex: -1 }, D.title),
      h(
        'p',
        { class: 'lead' },
        h('b', null, a('#/gateways', n(G.length, 'Gateway'))),
        ' ',
        G.length === 1 ? 'serves ' : 'serve ',
        h('b', null, a('#/routes', n(R.length, 'route'))),
        ' on ',
        h('b', null, a('#/clusters', n(ALL, 'cluster'))),
        ', under ',
        h('b', null, a('#/policies', n(np, 'policy', 'policies'))),
        nl
          ? [
              ' and ',
              h('b', null, a('#/policies?state=local', String(nl))),
              nl === 1 ? ' that lives on a cluster' : ' that live on clusters',
            ]
          : '',
        '.',
      ),
    ];
    if (D.change) {
      const s = D.change.summary,
        lost = lostRoutes();
      w.unshift([
        lost.size ? 'bad' : 'info',
        s.changedClusters,
        `of ${n(Math.max(ALL, s.changedClusters), 'cluster')} ${s.changedClusters === 1 ? 'changes' : 'change'}` +
          (lost.size ? `, and ${n(lost.size, 'route loses', 'routes lose')} a policy` : ''),
        changeLine(true),
        '#/changes',
      ]);
    }
    out.push(
      h('h2', null, 'Worth a look'),
      w.length
        ? h(
            'div',
            { class: 'look' },
            w.map(([c, k, t, s, href]) =>
              h(
                'a',
                { class: 'card ' + c, href },
                h('span', { class: 'n' }, k.toLocaleString('en')),
                h('span', null, h('span', { class: 't' }, t), h('br'), h('span', { class: 's' }, s)),
              ),
            ),
          )
        : h('p', { class: 'muted' }, K.length ? 'Nothing.' : 'Nothing: there is no policy.'),
    );
    if (D.rules.length) out.push(h('h2', { id: 'rules' }, 'Rules'), ruleBox());
    out.push(h('h2', null, 'Gateways, their policies, and their clusters'), fleetMap(cg));
    return out;
  };
  const RULES = {
    violated: ['bad', 'violated'],
    invalid: ['bad', 'not evaluated'],
    neverMatches: ['warn', 'about nothing'],
    accepted: ['', 'violation accepted'],
    satisfied: ['ok', 'satisfied'],
  };
  function ruleBox() {
    const order = Object.keys(RULES),
      rules = [...D.rules].sort((x, y) => order.indexOf(x.state) - order.indexOf(y.state)),
      states = [...group(rules, r => r.state)],
      body = h('tbody');
    const violation = v => {
      const href = v.p !== undefined ? poHash(v.p) : v.r !== undefined ? rtHash(v.r) : v.g !== undefined && gwHash(v.g);
      return h(
        'li',
        null,
        href ? a(href, v.subject) : v.subject,
        ` on ${clusterText(members(v.clusters))} `,
        src(v.at),
        v.accepted && [' ', h('span', { class: 'tag' }, 'accepted')],
        v.reason && h('div', { class: 'muted' }, v.reason),
      );
    };
    const more = portions(body, rules, r => {
      const [cls, text] = RULES[r.state];
      return h(
        'tr',
        { class: 'hov' },
        h('td', null, h('span', { class: 'tag ' + (cls === 'bad' && r.severity === 'warning' ? 'warn' : cls) }, text)),
        h('th', { scope: 'row', class: 'nm' }, r.name, ' ', src(r.at), h('div', { class: 'small muted' }, r.message)),
        h('td', { class: 'small' }, r.violations.length > 0 && h('ul', null, r.violations.map(violation))),
      );
    });
    return h(
      'div',
      { class: 'card' },
      h('p', { class: 'pad' }, states.map(([state, all]) => `${all.length} ${RULES[state][1]}`).join(', '), '.'),
      table('FleetRules, and where each is violated', ['State', 'Rule', 'Violated by'], body, 'rules'),
      more,
    );
  }
  function fleetMap(cg) {
    const many = cg.length > 7,
      byNs = group(
        G.map((_, i) => i),
        i => G[i].ns,
      ),
      rows = [];
    for (const [ns, gs] of byNs) {
      if (byNs.size > 1 && G.length > byNs.size) rows.push([null, ns]);
      gs.forEach(g => rows.push([g]));
    }
    const solo = !(byNs.size > 1 && G.length > byNs.size);
    const body = h('tbody');
    const kindCell = (g, k) => {
      const os = [];
      if (K[k].ends === 'route rule' || K[k].ends === 'backend')
        for (const [r, on] of routesOf[g])
          R[r].rules.forEach((_, ru) => held(k, g, on[1], on, r, ru).forEach(x => os.push(x.o)));
      else if (K[k].ends === 'listener') G[g].listeners.forEach((_, li) => os.push(base(k, g, li)));
      else os.push(base(k, g, -1));
      const all = os.length,
        have = os.filter(covers).length,
        open = os.some(o => o >= 0 && O[o].open);
      if (G.length <= 8) {
        const ps = new Set();
        for (const o of os) if (o >= 0) O[o].set.forEach(s => ps.add(s[2]));
        return h(
          'td',
          { class: `cell${k ? '' : ' first'}${all && !ps.size ? ' gap' : have < all ? ' part' : ''}` },
          ps.size
            ? h(
                'div',
                { class: 'chips' },
                [...ps].slice(0, 4).map(p => chip(p)),
                ps.size > 4 && h('span', { class: 'small muted' }, `+${ps.size - 4}`),
                open && h('span', { class: 'tag warn' }, 'open to everybody'),
              )
            : all
              ? 'none'
              : '',
        );
      }
      const t = !all
        ? 'no route'
        : `${have} of ${all} ${K[k].ends === 'listener' ? 'listeners' : K[k].ends === 'Gateway' ? 'Gateway' : 'paths'}`;
      const svg = h(
        'span',
        { class: `bar ${kc(k)}${have === all ? ' full' : ''}${all ? '' : ' na'}`, title: `${K[k].kind}: ${t}` },
        all ? h('i') : null,
      );
      if (all) svg.firstChild.style.width = `${(100 * have) / all}%`;
      return h('td', { class: k === 0 ? 'first' : '' }, svg, h('span', { class: 'sr' }, t));
    };
    const more = portions(
      body,
      rows,
      ([g, ns]) =>
        g === null
          ? h('tr', { class: 'sec' }, h('th', { colspan: 2 + K.length + cg.length, scope: 'colgroup' }, ns))
          : (() => {
              const ex = excClusters(g),
                gc = new Set(members(G[g].clusters));
              return h(
                'tr',
                { class: 'hov' },
                h(
                  'th',
                  { class: 'gw', scope: 'row' },
                  a(gwHash(g), solo ? `${G[g].ns}/${G[g].name}` : G[g].name),
                  G[g].kind && h('span', { class: 'muted' }, ` ${G[g].kind}`),
                  G[g].local && [' ', h('span', { class: 'tag local' }, 'lives there')],
                  G[g].reported &&
                    G[g].reported.some(c => c.status !== 'True') && [' ', h('span', { class: 'tag bad' }, 'not ready')],
                ),
                h('td', { class: 'num right muted' }, routesOf[g].length),
                K.map((_, k) => kindCell(g, k)),
                cg.map((x, i) => {
                  const on = gc.has(x.ix[0]),
                    d = on ? x.ix.filter(c => ex.has(c)) : [];
                  return h(
                    'td',
                    { class: 'c' + (i ? '' : ' first') },
                    h('span', {
                      class: 'sq' + (on ? (d.length ? ' ex' : '') : ' no'),
                      title:
                        `${G[g].name} on ${clusterText(x.ix)}: ${on ? 'yes' : 'no'}` +
                        (d.length ? `, and ${clusterText(d)} differs` : ''),
                    }),
                    h('span', { class: 'sr' }, on ? (d.length ? `yes, but ${clusterText(d)} differs` : 'yes') : 'no'),
                  );
                }),
              );
            })(),
      400,
    );
    const t = h(
      'table',
      { class: 'map' },
      h(
        'caption',
        { class: 'sr' },
        'Gateways, how much of each every kind of policy covers, and the groups of clusters that receive it',
      ),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, 'Gateway'),
          h('th', { scope: 'col', class: 'right' }, 'Routes'),
          K.map((kd, k) =>
            h(
              'th',
              { scope: 'col', class: kc(k) + (k ? '' : ' first') },
              many && K.length > 5
                ? h('span', { class: 'v' }, h('i', { class: 'dot' }), short(k))
                : [h('i', { class: 'dot' }), short(k)],
            ),
          ),
          cg.map((x, i) =>
            h(
              'th',
              { scope: 'col', class: 'c' + (i ? '' : ' first'), title: clusterText(x.ix, true) },
              h(
                'a',
                { href: x.ix.length === 1 ? clHash(x.ix[0]) : '#/clusters', class: many ? 'v' : '' },
                (([t, u]) => [h('b', null, t), many && u ? ' \u00b7 ' : '', u])(headText(x.ix)),
              ),
            ),
          ),
        ),
      ),
      body,
    );
    return h(
      'div',
      { class: 'card' },
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Map of the fleet' }, t),
      more,
      h(
        'div',
        { class: 'legend' },
        h('span', null, h('i', { class: 'sq' }), 'goes there'),
        h(
          'span',
          null,
          h('i', { class: 'sq ex' }),
          'goes there; some of these clusters have a policy of their own that changes it',
        ),
        h('span', null, h('i', { class: 'sq no' }), 'does not'),
        G.length > 8 &&
          h('span', null, 'Bars: share of the paths that a policy of the kind covers; the red rest is a gap'),
      ),
    );
  }
  V.gateways = () => [
    h('h1', { tabindex: -1 }, 'Gateways'),
    h('p', { class: 'lead' }, 'Where each goes, and what covers its routes.'),
    fleetMap(clusterGroups().filter(x => x.gws.length)),
  ];

  /* ---------- routes: the coverage matrix ---------- */
  V.routes = q => {
    const gap = q.get('gap'),
      text = (q.get('q') || '').toLowerCase(),
      gk = K.findIndex(k => k.kind === gap);
    const list = [];
    let shown = 0;
    R.forEach((r, i) => {
      const c = cov()[i];
      if (
        gap === 'differs'
          ? !K.some((_, k) => excOfRoute(i, k).size)
          : gap === 'open'
            ? !c.some(x => x.st === 'open')
            : gap === 'attached'
              ? r.on.length
              : gk >= 0 && !['none', 'partial'].includes(coverage.get(gk)?.of(r))
      )
        return;
      if (
        text &&
        ![`${r.ns}/${r.name}`, ...r.hostnames, ...r.rules.flatMap(x => x.matches), ...r.on.map(o => G[o[0]].name)]
          .join(' ')
          .toLowerCase()
          .includes(text)
      )
        return;
      shown++;
      list.push(i);
    });
    const sections = group(list, i => (R[i].on.length ? R[i].on[0][0] + '|' + R[i].on[0][1] : ''));
    const rows = [];
    for (const [key, rs] of [...sections].sort((x, y) => collator.compare(sectionName(x[0]), sectionName(y[0])))) {
      rows.push(['sec', key, rs.length]);
      const same = group(
        rs,
        i =>
          cov()
            [i].map(
              c =>
                c.st +
                (c.open ? 'open:' : ':') +
                [...c.ps.keys()].filter(p => levelOf(p) !== 'r' && levelOf(p) !== 'u').join(',') +
                (c.ps.size && [...c.ps.keys()].some(p => /[ru]/.test(levelOf(p))) ? '#' + i : ''),
            )
            .join(';') + K.map((_, k) => [...excOfRoute(i, k)].join()).join('|'),
      );
      for (const [, xs] of same) rows.push(['row', xs]);
    }
    function sectionName(k) {
      if (!k) return '\uffff';
      const [g, li] = k.split('|');
      return `${G[g].ns}/${G[g].name}/${li}`;
    }
    const body = h('tbody');
    const more = portions(body, rows, ([t, x, cnt]) => {
      if (t === 'sec') {
        if (!x)
          return h(
            'tr',
            { class: 'sec' },
            h('th', { colspan: 1 + K.length, scope: 'colgroup' }, 'Attached to no Gateway here'),
          );
        const [g, li] = x.split('|').map(Number),
          l = G[g].listeners[li];
        return h(
          'tr',
          { class: 'sec' },
          h(
            'th',
            { colspan: 1 + K.length, scope: 'colgroup' },
            a(gwHash(g), `${G[g].ns}/${G[g].name}`),
            ` \u203a ${l.name}`,
            h(
              'span',
              { class: 'muted' },
              `  ${l.hostname}  \u00b7  ${n(cnt, 'route')}  \u00b7  on ${clusterText(members(G[g].clusters))}`,
            ),
          ),
        );
      }
      const r = x[0],
        c = cov()[r];
      const nm = h(
        'th',
        { scope: 'row', class: 'nm' },
        a(rtHash(r), R[r].name),
        R[r].local && [' ', h('span', { class: 'tag local' }, 'lives there')],
        x.length > 1
          ? h(
              'details',
              null,
              h('summary', null, `and ${x.length - 1} more like it`),
              h(
                'ul',
                { class: 'small' },
                x.slice(1).map(i => h('li', null, a(rtHash(i), R[i].name))),
              ),
            )
          : h(
              'div',
              { class: 'small muted wide' },
              R[r].rules
                .map(y => y.matches.join(', '))
                .slice(0, 2)
                .join('  ') + (R[r].rules.length > 2 ? ` +${R[r].rules.length - 2}` : ''),
            ),
      );
      return h(
        'tr',
        { class: 'hov' },
        nm,
        c.map((y, k) => {
          const g0 = R[r].on.length ? R[r].on[0][0] : undefined;
          return h(
            'td',
            { class: !R[r].on.length ? '' : y.st === 'none' ? 'gap' : y.st === 'covered' ? '' : 'part' },
            !y.ps.size
              ? R[r].on.length
                ? 'none'
                : '\u2014'
              : [
                  h(
                    'div',
                    { class: 'chips' },
                    [...y.ps].map(([p, l]) => chip(p, { note: l && l !== 'g' ? LEVEL[l] : '' })),
                  ),
                  y.open
                    ? h('span', { class: 'tag warn' }, 'open to everybody')
                    : y.st === 'partial' && h('span', { class: 'small' }, 'on some rules only'),
                ],
            exTag(r, k),
          );
        }),
      );
    });
    function exTag(r, k) {
      const xs = [...excOfRoute(r, k)].map(i => D.exceptions[i]);
      if (!xs.length) return null;
      const cl = z => [...new Set(z.flatMap(x => members(x.clusters)))],
        no = xs.filter(x => x.new < 0 || !O[x.new].set.length),
        yes = xs.filter(x => !no.includes(x));
      return [
        [no, 'bad', 'none on '],
        [yes, 'local' + (yes.every(x => overlaysBehind(x).length) ? ' overlaid' : ''), 'differs on '],
      ]
        .filter(x => x[0].length)
        .map(([z, c, t]) => [
          ' ',
          h(
            'a',
            {
              class: 'tag ' + c,
              href: rtHash(r) + (rtHash(r).includes('?') ? '&' : '?') + 'on=' + enc(C[cl(z)[0]].name),
            },
            t,
            clusterText(cl(z)),
          ),
        ]);
    }
    const nDiff = R.filter((_, i) => K.some((_, k) => excOfRoute(i, k).size)).length;
    const set = (k, v) => {
      const m = new URLSearchParams(q);
      v ? m.set(k, v) : m.delete(k);
      return '#/routes' + (String(m) ? '?' + m : '');
    };
    const inp = h('input', {
      class: 'filter',
      type: 'search',
      placeholder: 'Name, host or path',
      'aria-label': 'Filter routes',
      value: q.get('q') || '',
      oninput: e => {
        clearTimeout(inp.t);
        inp.t = setTimeout(() => {
          history.replaceState(null, '', set('q', e.target.value));
          render(true);
          const f = document.querySelector('.filter');
          f.focus();
          f.setSelectionRange(99, 99);
        }, 160);
      },
    });
    return [
      h('h1', { tabindex: -1 }, 'Routes and what covers them'),
      h(
        'p',
        { class: 'lead' },
        gk >= 0
          ? [
              h('b', null, n(shown, 'route')),
              ` of ${R.length.toLocaleString('en')} without ${gap} on at least one path`,
            ]
          : gap === 'differs'
            ? [h('b', null, n(shown, 'route')), ` with other settings on some cluster, because of ${WHY_DIFFERENT}`]
            : gap === 'open'
              ? [h('b', null, n(shown, 'route')), ' that a policy opens to everybody']
              : [h('b', null, n(shown, 'route')), ', grouped where they are alike. Red is a gap.'],
      ),
      h(
        'div',
        { class: 'row' },
        h(
          'div',
          { class: 'seg', role: 'group', 'aria-label': 'Show' },
          h('a', { href: set('gap', ''), 'aria-current': gap ? null : 'true' }, 'All'),
          [...coverage].map(([k, c]) =>
            h(
              'a',
              { href: set('gap', K[k].kind), 'aria-current': gk === k ? 'true' : null },
              `Without ${short(k)} `,
              h('span', { class: 'num muted' }, c.gaps.toLocaleString('en')),
            ),
          ),
          nDiff
            ? h(
                'a',
                { href: set('gap', 'differs'), 'aria-current': gap === 'differs' ? 'true' : null },
                'Differ on a cluster ',
                h('span', { class: 'num muted' }, nDiff.toLocaleString('en')),
              )
            : '',
        ),
        inp,
      ),
      h('p'),
      rows.length
        ? h(
            'div',
            { class: 'card' },
            table(
              'Routes by listener, and the policies of each kind that apply',
              [
                'Route',
                ...K.map((_, k) => h('th', { scope: 'col', class: kc(k) }, h('i', { class: 'dot' }), short(k))),
              ],
              body,
              'cov',
            ),
            more,
          )
        : h('p', { class: 'card pad' }, 'None.'),
    ];
  };

  /* ---------- one route ---------- */
  function variants(r) {
    // listener and rules with one outcome are one choice
    const m = new Map();
    R[r].on.forEach(on =>
      R[r].rules.forEach((rule, ru) => {
        const key =
          K.map((_, k) =>
            held(k, on[0], on[1], on, r, ru)
              .map(
                ({ b, o }) =>
                  `${b}=${o}/` +
                  excAt(k, on[0], on[1], r, ru, b)
                    .map(x => x.clusters + '>' + x.new)
                    .join(','),
              )
              .join('&'),
          ).join(';') +
          '|' +
          on[0] +
          '|' +
          on[1];
        if (!m.has(key)) m.set(key, { on, rus: [] });
        m.get(key).rus.push(ru);
      }),
    );
    return [...m.values()];
  }
  V.route = (q, ns, name) => {
    const want = q.get('kind'),
      r = R.findIndex(x => x.ns === ns && x.name === name && (!want || x.kind.toLowerCase() === want));
    if (r < 0) return missing('route', `${ns}/${name}`);
    const rt = R[r],
      vs = variants(r),
      vi = Math.min(Math.max(0, (+q.get('path') || 1) - 1), Math.max(0, vs.length - 1)),
      v = vs[vi];
    const out = [
      head(rt.kind, `${rt.ns}/${rt.name}`, rt.at),
      overlaidWhere(rt.local ? [] : overlaysOnGw(rt.kind, rt.ns, rt.name)),
    ];
    if (!v) return [...out, h('p', { class: 'note' }, 'No listener of a Gateway here accepts this route.')];
    const [g, li] = v.on,
      gw = G[g],
      l = gw.listeners[li],
      gc = onClusters(v.on);
    // clusters by outcome on this path
    const sig = new Map(gc.map(c => [c, '']));
    K.forEach((_, k) =>
      held(k, g, li, v.on, r, v.rus[0]).forEach(({ b }) =>
        excAt(k, g, li, r, v.rus[0], b).forEach(x =>
          members(x.clusters).forEach(c => sig.has(c) && sig.set(c, `${sig.get(c)}${k},${b}:${x.new};`)),
        ),
      ),
    );
    const parts = [...group(gc, c => sig.get(c))].sort(
      (x, y) => (x[0] ? 1 : 0) - (y[0] ? 1 : 0) || y[1].length - x[1].length,
    );
    const onC = q.get('on'),
      pi = Math.max(
        0,
        parts.findIndex(([, ix]) => ix.some(c => C[c].name === onC)),
      ),
      here = parts[pi] ? parts[pi][1] : [];
    // One column for each kind; one for each backend, where they differ.
    const cols = K.flatMap((_, k) => {
      const of = held(k, g, li, v.on, r, v.rus[0]).map(({ b, o }) => {
        const ex = excAt(k, g, li, r, v.rus[0], b),
          mine = here.length ? ex.find(x => inSet(x.clusters, here[0])) : null;
        return { k, b, o: mine ? mine.new : o, mine, others: mine ? [] : ex };
      });
      if (!of.length) return [{ k, b: -1, o: -1, others: [], nothing: true }];
      return of.every(x => x.o === of[0].o) ? [{ ...of[0], b: -1 }] : of;
    });
    const url = (path, on) => {
      const m = new URLSearchParams();
      if (want) m.set('kind', want);
      if (path) m.set('path', path + 1);
      if (on) m.set('on', on);
      return rtHash(r).split('?')[0] + (String(m) ? '?' + m : '');
    };
    out.push(
      h(
        'dl',
        { class: 'inl' },
        h(
          'div',
          null,
          h('dt', null, 'Serves'),
          h(
            'dd',
            null,
            h('code', null, (rt.hostnames.length ? rt.hostnames : [l.hostname]).join(', ')),
            rt.rules.length === 1 && rt.rules[0].matches[0] === '/' ? ', every path' : '',
          ),
        ),
        h(
          'div',
          null,
          h('dt', null, 'Through'),
          h(
            'dd',
            null,
            a(gwHash(g), `${gw.kind || 'Gateway'} ${gw.ns}/${gw.name}`),
            gw.kind ? '' : ` \u203a listener ${l.name}`,
            l.listenerSet ? ` of ${l.listenerSet}` : '',
          ),
        ),
        h(
          'div',
          null,
          h('dt', null, 'On'),
          h(
            'dd',
            null,
            clusterLinks(gc, 4),
            gw.placement >= 0 && [', by ', a(plHash(gw.placement), `Placement ${D.placements[gw.placement].name}`)],
          ),
        ),
      ),
    );
    const ruleLab = x =>
      x.rus.length < rt.rules.length || x.rus.length === 1
        ? x.rus.map(y => ruleName(r, y)).join(', ')
        : x.rus.length === 2
          ? 'both rules'
          : `all ${x.rus.length} rules`;
    const rulePaths = x =>
      x.rus
        .flatMap(y => rt.rules[y].matches)
        .slice(0, 3)
        .join(', ') + (x.rus.length > 3 ? ' \u2026' : '');
    const sel = h('div', { class: 'bars' });
    if (vs.length > 1)
      sel.append(
        h(
          'div',
          { class: 'seg', role: 'group', 'aria-label': 'Path' },
          vs.map((x, i) =>
            h(
              'a',
              { href: url(i, onC), 'aria-current': i === vi ? 'true' : null },
              rt.on.length > 1 ? `${G[x.on[0]].listeners[x.on[1]].name}: ` : '',
              h('b', null, rulePaths(x)),
              ' ',
              h('span', { class: 'muted small' }, ruleLab(x)),
            ),
          ),
        ),
      );
    if (parts.length > 1)
      sel.append(
        h(
          'div',
          { class: 'seg', role: 'group', 'aria-label': 'Clusters' },
          parts.map(([s, ix], i) =>
            h(
              'a',
              {
                class: s ? 'differs' : '',
                href: url(vi, i ? C[ix[0]].name : ''),
                'aria-current': i === pi ? 'true' : null,
              },
              `on ${clusterText(ix)}`,
              s ? ' \u00b7 differs' : '',
            ),
          ),
        ),
      );
    out.push(
      h('h2', { class: 'wide' }, 'Policies, from the least to the most specific level'),
      h('p', { class: 'slim' }),
      ladder(r, v, g, li, cols, ruleLab(v), rulePaths(v), sel.childNodes.length ? sel : null),
    );
    out.push(h('h2', null, 'Settings in effect'));
    cols.forEach(col => out.push(kindCard(col, url)));
    return out;
    function kindCard({ k, b, o, others, mine, nothing }, url) {
      const by = mine ? overlaysBehind(mine) : [],
        box = h('section', {
          class: 'card kind ' + kc(k) + (mine ? ' differs' : '') + (by.length ? ' overlaid' : ''),
        });
      box.append(
        h(
          'header',
          null,
          h('h3', null, h('i', { class: 'dot' }), K[k].kind),
          b >= 0 && h('span', { class: 'muted small' }, B[b].text),
          o >= 0 && O[o].open && h('span', { class: 'tag warn' }, 'lets everybody in, on purpose'),
          nothing
            ? h('span', { class: 'tag' }, 'forwards to nothing')
            : o < 0 || !O[o].set.length
              ? h('span', { class: 'tag bad' }, 'none in effect here')
              : h('span', { class: 'muted small' }, n(O[o].set.length, 'setting')),
          mine && h('span', { class: 'tag local' }, 'differs from the other clusters'),
        ),
      );
      if (o >= 0) box.append(settings(O[o]));
      box.append(...overlayList(by, v => `changes ${locatorText(v.object)}: `));
      if (others && others.length)
        for (const x of others) {
          const c0 = members(x.clusters);
          box.append(
            h(
              'div',
              { class: 'elsewhere' + (overlaysBehind(x).length ? ' overlaid' : '') },
              h('b', null, `On ${clusterText(c0)} instead: `),
              x.new < 0
                ? 'none'
                : O[x.new].set.map((s, i) => [
                    i ? ', ' : '',
                    h('code', null, settingName(s[0])),
                    ' ',
                    brief(D.values[s[1]]),
                  ]),
              x.new >= 0 && O[x.new].set.length
                ? [
                    ', by ',
                    [...new Set(O[x.new].set.map(s => s[2]))].map(p => chip(p, { full: true })),
                    ' ',
                    src(O[x.new].set[0][3]),
                    overlaysBehind(x).map(v => [', with ', locatorText(v.overlay), ' ', src(v.at)]),
                  ]
                : '',
              ' ',
              a(url(vi, C[c0[0]].name), 'compare'),
            ),
          );
        }
      return box;
    }
  };
  function settings(o) {
    const box = h('div', { class: 'sets' }),
      total = o.set.length + o.lost.length;
    let i = 0;
    let last = -1;
    for (const s of o.set) {
      const e = (++i === total ? ' e' : '') + (s[2] === last ? ' same' : '');
      box.append(
        h('div', { class: 'nm' + e }, settingName(s[0])),
        h('div', { class: e }, valueBox(s[1])),
        h('div', { class: 'by' + e }, s[2] !== last && [chip(s[2], { full: true }), ' '], src(s[3])),
      );
      last = s[2];
    }
    for (const l of o.lost) {
      const e = ++i === total ? ' e' : '';
      box.append(
        h(
          'div',
          { class: 'lostrow nm' + e },
          h('span', { class: 'nm' }, settingName(l[0])),
          h('span', { class: 'sr' }, ' (overridden)'),
        ),
        h(
          'div',
          { class: 'lostrow' + e },
          valueBox(l[1]),
          h(
            'div',
            { class: 'why' },
            'Overridden by ',
            l[3].map((p, j) => [j ? ', ' : '', P[p].name]),
            ': ',
            l[4],
            '.',
          ),
        ),
        h('div', { class: 'by' + e }, chip(l[2], { full: true, lost: true }), ' ', src(l[5])),
      );
    }
    return box;
  }
  function ladder(r, v, g, li, cols, rl, rp, sel) {
    const rt = R[r],
      gw = G[g],
      l = gw.listeners[li];
    // Levels that few kinds know are drawn where somebody stands on them.
    const levels = [
      ['m', 'Mesh', '', true],
      ['c', 'GatewayClass', gw.class, !gw.class],
      ['n', 'Namespace of the Gateway', gw.ns, true],
      ['g', gw.kind || 'Gateway', `${gw.ns}/${gw.name}`],
      ['s', 'ListenerSet', l.listenerSet || '', true],
      ['l', 'Listener', l.name, !!gw.kind],
      ['rn', 'Namespace of the route', rt.ns, true],
      ['r', rt.kind, `${rt.ns}/${rt.name}`],
      ['u', 'Rule', rl + (rp ? ' \u00b7 ' + rp : '')],
      [
        'b',
        'Backend',
        [...new Set(v.rus.flatMap(x => rt.rules[x].backends))].slice(0, 3).join(', '),
        !cols.some(x => K[x.k].ends === 'backend'),
      ],
    ];
    const lvl = p => {
      for (const t of P[p].targets) {
        if (t[0] === 'g' && t[1] === g) return t[2] >= 0 ? 'l' : 'g';
        if (t[0] === 's' && t[1] === g) return 's';
        if (t[0] === 'r' && t[1] === r) return t[2] >= 0 ? 'u' : 'r';
        if (t[0] === 'n') return t[1] !== gw.ns && t[1] === rt.ns ? 'rn' : 'n';
        if ('cmb'.includes(t[0])) return t[0];
      }
      return 'c';
    };
    const at = cols.map(({ o }) => {
      const m = {};
      if (o >= 0) {
        const w = new Set(O[o].set.map(s => s[2])),
          lost = new Map();
        O[o].lost.forEach(x => {
          if (!lost.has(x[2])) lost.set(x[2], x);
        });
        for (const p of new Set([...w, ...lost.keys()])) (m[lvl(p)] = m[lvl(p)] || []).push([p, w.has(p), lost.get(p)]);
      }
      return m;
    });
    return h(
      'div',
      { class: 'card' },
      sel,
      h(
        'div',
        { class: 'scroll wide' },
        h(
          'table',
          { class: 'ladder' },
          h('caption', { class: 'sr' }, 'Levels of the path, and the policies on each'),
          h(
            'thead',
            null,
            h(
              'tr',
              null,
              h('td', null),
              cols.map(({ k, b }) =>
                h(
                  'th',
                  { scope: 'col', class: kc(k) },
                  h('i', { class: 'dot' }),
                  K[k].kind,
                  b >= 0 && h('div', { class: 'muted small' }, B[b].text),
                ),
              ),
            ),
          ),
          h(
            'tbody',
            null,
            levels
              .filter(([c, , , rare]) => !rare || at.some(m => m[c]))
              .map(([c, kind, name]) =>
                h(
                  'tr',
                  null,
                  h('th', { scope: 'row' }, kind, h('b', null, name)),
                  cols.map(({ k }, i) =>
                    h(
                      'td',
                      { class: kc(k) },
                      at[i][c]
                        ? h(
                            'div',
                            { class: 'chips' },
                            at[i][c].map(([p, w, l]) =>
                              chip(p, {
                                lost: !w,
                                note: w
                                  ? isLocal(p)
                                    ? 'lives there'
                                    : P[p].mode
                                      ? P[p].mode + (P[p].strategy ? ', ' + P[p].strategy : '')
                                      : ''
                                  : '',
                                title: l && !w ? l[4] : '',
                              }),
                            ),
                          )
                        : h('span', { class: 'empty' }),
                    ),
                  ),
                ),
              ),
            h(
              'tr',
              { class: 'res' },
              h('th', { scope: 'row' }, 'Result'),
              cols.map(({ k, o, nothing }) =>
                h(
                  'td',
                  { class: kc(k) },
                  nothing ? '\u2014' : o < 0 ? h('span', { class: 'none' }, 'none') : briefOutcome(o, 4),
                  o >= 0 && O[o].open && h('div', null, h('span', { class: 'tag warn' }, 'open to everybody')),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }

  /* ---------- one Gateway ---------- */
  V.gateway = (q, ns, name) => {
    const g = G.findIndex(x => x.ns === ns && x.name === name);
    if (g < 0) return missing('Gateway', `${ns}/${name}`);
    const gw = G[g],
      gc = members(gw.clusters),
      ex = excClusters(g);
    const on = (kind, ...t) =>
      P.map((_, p) => p).filter(p => P[p].targets.some(x => x[0] === kind && t.every((y, i) => x[i + 1] === y)));
    const top = on('g', g, -1),
      body = h('tbody');
    let first = true;
    const rowsOf = li => {
      const rs = routesOf[g].filter(([, o]) => o[1] === li);
      const m = group(
        rs,
        ([r, o]) =>
          K.map((_, k) =>
            [...new Set(R[r].rules.flatMap((_, ru) => held(k, g, li, o, r, ru).map(x => x.o)))].sort().join('/'),
          ).join(';') +
          '|' +
          on('r', r).join(','),
      );
      return [...m.values()].sort((x, y) => y.length - x.length);
    };
    const lis = gw.listeners.map((l, li) => ({ l, li, rows: rowsOf(li) })),
      total = lis.reduce((s, x) => s + Math.max(1, x.rows.length), 0);
    for (const { l, li, rows } of lis) {
      (rows.length ? rows : [null]).forEach((grp, i) => {
        const tr = h('tr');
        if (first) {
          tr.append(
            h(
              'th',
              { class: 'lv', rowspan: total, scope: 'rowgroup' },
              h('b', null, `${gw.ns}/${gw.name}`),
              gw.class && h('div', { class: 'small muted' }, `class ${gw.class}`),
              h(
                'div',
                { class: 'chips' },
                top.map(p =>
                  chip(p, {
                    lost: policyState(p)[0] === 'bad',
                    note: isLocal(p) ? clusterText(livesOn(p)) : P[p].mode || '',
                  }),
                ),
              ),
            ),
          );
          first = false;
        }
        if (!i) {
          const mine = [...on('g', g, li), ...(l.listenerSet ? on('s', g, l.listenerSet) : [])];
          tr.append(
            h(
              'th',
              { class: 'lv', rowspan: Math.max(1, rows.length), scope: 'rowgroup' },
              h('b', null, l.name),
              h('div', { class: 'small muted' }, l.hostname + (l.port ? `:${l.port}` : '')),
              l.listenerSet && h('div', { class: 'small muted' }, `of ${l.listenerSet}`),
              h(
                'div',
                { class: 'chips' },
                mine.map(p =>
                  chip(p, {
                    lost: policyState(p)[0] === 'bad',
                    note: isLocal(p) ? clusterText(livesOn(p)) : P[p].mode || '',
                  }),
                ),
              ),
            ),
          );
        }
        if (!grp) tr.append(h('td', { class: 'muted', colspan: 1 + K.length }, 'no route'));
        else {
          const [r, o] = grp[0],
            mine = on('r', r);
          tr.append(
            h(
              'td',
              null,
              a(rtHash(r), R[r].name),
              grp.length > 1
                ? h(
                    'details',
                    null,
                    h('summary', null, `and ${grp.length - 1} more`),
                    h(
                      'ul',
                      { class: 'small' },
                      grp.slice(1).map(([x]) => h('li', null, a(rtHash(x), R[x].name))),
                    ),
                  )
                : '',
              mine.length
                ? h(
                    'div',
                    { class: 'chips' },
                    mine.map(p => chip(p, { lost: policyState(p)[0] === 'bad' })),
                  )
                : '',
            ),
          );
          K.forEach((_, k) => {
            const cs = R[r].rules.flatMap((_, ru) => held(k, g, li, o, r, ru).map(x => x.o)),
              some = cs.some(x => x >= 0),
              ps = new Set(cs.filter(x => x >= 0).flatMap(x => O[x].set.map(s => s[2])));
            tr.append(
              h(
                'td',
                { class: some ? (cs.every(covers) ? '' : 'part') : cs.length ? 'gap' : 'muted' },
                some
                  ? h(
                      'div',
                      { class: 'small' },
                      briefOutcome(cs.find(x => x >= 0)),
                      h('span', { class: 'sr' }, ' by ', [...ps].map(p => P[p].name).join(', ')),
                      cs.some(x => x >= 0 && O[x].open) && h('span', { class: 'tag warn' }, 'open to everybody'),
                    )
                  : cs.length
                    ? 'none'
                    : '\u2014',
              ),
            );
          });
        }
        body.append(tr);
      });
    }
    return [
      head(
        gw.kind || 'Gateway',
        `${gw.ns}/${gw.name}`,
        gw.at,
        gw.local && h('span', { class: 'tag local' }, 'lives there'),
        conditions(gw),
        gw.placement >= 0 && a(plHash(gw.placement), `Placement ${D.placements[gw.placement].name}`),
      ),
      overlaidWhere(gw.local ? [] : overlaysOnGw(gw.kind || 'Gateway', gw.ns, gw.name)),
      gw.addresses && h('p', { class: 'small' }, h('span', { class: 'muted' }, 'Addresses '), gw.addresses.join(', ')),
      W && W.problems.some(x => x.gateway === g)
        ? [h('h2', null, 'What is wrong with its works'), problems(W.problems.filter(x => x.gateway === g))]
        : '',
      h('h2', null, 'From the Gateway to its routes'),
      h(
        'div',
        { class: 'card' },
        table(
          'Listeners and routes with the policies on each level and their result',
          [
            'Gateway',
            'Listener',
            'Route',
            ...K.map((_, k) => h('th', { scope: 'col', class: kc(k) }, h('i', { class: 'dot' }), short(k))),
          ],
          body,
          'ice',
        ),
      ),
      h('h2', null, `On ${clusterText(gc, true)}`),
      h(
        'div',
        { class: 'card pad' },
        waffle(
          c => (!gc.includes(c) ? 0 : ex.has(c) ? 2 : 1),
          ['does not receive it', 'receives it', 'receives it, and has a policy of its own'],
          `On ${clusterText(gc)}`,
        ),
        ex.size ? h('p', { class: 'small' }, 'With a policy of their own: ', clusterLinks(ex, 12)) : '',
      ),
      gw.work?.objects.length
        ? [
            h('h2', null, 'What is shipped with it'),
            h('p', { class: 'small muted' }, `In the ${gw.work.name}`),
            h(
              'div',
              { class: 'card' },
              table(
                'Objects of its work',
                ['Object on the cluster', 'From'],
                h(
                  'tbody',
                  null,
                  gw.work.objects.map(o =>
                    h(
                      'tr',
                      null,
                      h('td', null, `${o.kind} ${o.namespace ? o.namespace + '/' : ''}${o.name}`),
                      h(
                        'td',
                        null,
                        o.at ? src(o.at) : h('span', { class: 'muted' }, 'made by spokewright'),
                      ),
                    ),
                  ),
                  gw.work.routes ? h('tr', null, h('td', null, `and ${n(gw.work.routes, 'route')}`), h('td')) : '',
                ),
              ),
            ),
          ]
        : '',
    ];
  };
  // What would be, and what clusters report instead, where they do.
  const conditions = x =>
    (x.reported || x.conditions || []).map(c =>
      h(
        'span',
        { class: 'tag ' + (c.status === 'True' ? 'ok' : 'bad'), title: c.message },
        `${x.reported ? 'reported ' : ''}${c.type} ${c.status}`,
      ),
    );
  const problems = xs => {
    const body = h('tbody'),
      more = portions(body, xs, x =>
        h(
          'tr',
          null,
          h('th', { scope: 'row' }, x.cluster >= 0 ? a(clHash(x.cluster), x.on) : x.on),
          h('td', null, x.gateway >= 0 ? a(gwHash(x.gateway), x.work) : x.work),
          h('td', null, h('span', { class: 'tag bad' }, x.state)),
          h(
            'td',
            null,
            x.message || '',
            (x.objects || []).map(o => h('div', { class: 'small' }, o)),
            x.help && h('div', { class: 'small muted' }, x.help),
          ),
        ),
      );
    return h(
      'div',
      { class: 'card' },
      table('Works that are not as planned', ['Cluster', 'Work', 'State', 'What is wrong'], body),
      more,
    );
  };
  V.reported = () => [
    h('h1', { tabindex: -1 }, 'What the clusters report'),
    h(
      'p',
      { class: 'lead' },
      W
        ? [h('b', null, n(W.applied, 'work')), ` of ${W.planned.toLocaleString('en')} are applied as planned.`]
        : 'This page was made without exported works.',
    ),
    W && W.problems.length ? problems(W.problems) : '',
  ];
  const briefOutcome = (o, max = 3) => {
    const s = briefs(o);
    return s
      .slice(0, max)
      .map(([k, v]) => h('div', null, h('span', { class: 'muted' }, k, ' '), brief(v)))
      .concat(s.length > max ? [h('div', { class: 'muted' }, `and ${s.length - max} more`)] : []);
  };

  /* ---------- policies ---------- */
  function targetText(t) {
    if (t[0] === 'g')
      return (
        `${G[t[1]].kind || 'Gateway'} ${G[t[1]].ns}/${G[t[1]].name}` +
        (t[2] >= 0 ? ` \u203a ${G[t[1]].listeners[t[2]].name}` : '')
      );
    if (t[0] === 'r')
      return `${R[t[1]].kind} ${R[t[1]].ns}/${R[t[1]].name}` + (t[2] >= 0 ? ` \u203a ${ruleName(t[1], t[2])}` : '');
    if (t[0] === 's') return t[2];
    if (t[0] === 'b') return B[t[1]].text;
    return ({ n: 'Namespace ', c: 'GatewayClass ', m: 'the mesh of ' }[t[0]] || '') + t[1];
  }
  const ruleName = (r, ru) => R[r].rules[ru].name;
  const targetLink = t =>
    t[0] === 'g' || t[0] === 's'
      ? a(gwHash(t[1]), targetText(t))
      : t[0] === 'r'
        ? a(rtHash(t[1]), targetText(t))
        : targetText(t);
  const reachClusters = p => {
    if (isLocal(p)) return uses[p].holds.length ? livesOn(p) : [];
    const s = new Set();
    for (const x of [...uses[p].holds, ...uses[p].partly]) members(G[x[0]].clusters).forEach(c => s.add(c));
    replaced(p).forEach(w => s.delete(w[1]));
    return [...s];
  };
  V.policies = q => {
    const st = q.get('state'),
      kd = q.get('kind'),
      list = P.map((_, p) => p).filter(
        p => (!kd || K[P[p].kind].kind === kd) && (!st || (st === 'local' ? isLocal(p) : policyState(p)[0] === st)),
      );
    const body = h('tbody'),
      rows = [];
    for (const [k, ps] of [...group(list, p => P[p].kind)].sort((x, y) => x[0] - y[0])) {
      rows.push([null, k, ps.length]);
      ps.sort((x, y) => collator.compare(P[x].ns + P[x].name, P[y].ns + P[y].name)).forEach(p => rows.push([p]));
    }
    const more = portions(body, rows, ([p, k, c]) =>
      p === null
        ? h(
            'tr',
            { class: 'sec ' + kc(k) },
            h(
              'th',
              { colspan: 5, scope: 'colgroup' },
              h('i', { class: 'dot' }),
              K[k].kind,
              h('span', { class: 'muted' }, `  ${c}`),
            ),
          )
        : (() => {
            const s = policyState(p),
              u = uses[p],
              rs = new Set([...u.holds, ...u.partly].map(x => x[2]).filter(x => x >= 0)).size,
              rep = replaced(p);
            return h(
              'tr',
              { class: 'hov' },
              h(
                'th',
                { scope: 'row' },
                a(poHash(p), `${P[p].ns}/${P[p].name}`),
                isLocal(p) && [' ', h('span', { class: 'tag local' }, 'lives on ', clusterText(livesOn(p)))],
              ),
              h(
                'td',
                null,
                P[p].targets
                  .slice(0, 2)
                  .map(t => h('div', { class: P[p].targets.length > 1 ? 't' : '' }, targetLink(t))),
                P[p].targets.length > 2 && h('span', { class: 'muted' }, ` and ${P[p].targets.length - 2} more`),
              ),
              h(
                'td',
                null,
                h('span', { class: 'tag ' + s[0] }, s[1]),
                rep.length
                  ? [
                      ' ',
                      h(
                        'span',
                        { class: 'tag local' },
                        `replaced on ${rep.length === 1 ? C[rep[0][1]].name : n(rep.length, 'cluster')}`,
                      ),
                    ]
                  : '',
              ),
              h(
                'td',
                { class: 'num small nowrap' },
                `${n(reachClusters(p).length, 'cluster')}`,
                rs ? `, ${n(rs, 'route')}` : '',
              ),
              h('td', { class: 'small wide srcs' }, src(P[p].at)),
            );
          })(),
    );
    const link = (s, l, k) =>
      h(
        'a',
        {
          href:
            '#/policies' +
            (s || k ? '?' + new URLSearchParams(Object.entries({ state: s, kind: k }).filter(x => x[1])) : ''),
          'aria-current': (st || '') === (s || '') && (kd || '') === (k || '') ? 'true' : null,
        },
        l,
      );
    return [
      h('h1', { tabindex: -1 }, 'Policies'),
      h('p', { class: 'lead' }, h('b', null, n(list.length, 'policy', 'policies'))),
      h(
        'div',
        { class: 'seg' },
        link('', 'All'),
        K.map(x => link('', x.kind, x.kind)),
        link('warn', 'In effect in part'),
        link('bad', 'In effect nowhere'),
        link('local', 'Live on clusters'),
      ),
      h('p'),
      h(
        'div',
        { class: 'card' },
        table(
          'Policies',
          ['Policy', 'Targets', 'State', 'Reach', h('th', { scope: 'col', class: 'wide' }, 'Source')],
          body,
        ),
        more,
      ),
    ];
  };
  V.policy = (q, kind, ns, name) => {
    const on = q.get('on'),
      p = P.findIndex(
        x =>
          K[x.kind].kind.toLowerCase() === kind &&
          x.ns === ns &&
          x.name === name &&
          (on ? x.cluster !== undefined && C[x.cluster].name === on : x.cluster === undefined),
      );
    if (p < 0) return missing('policy', `${ns}/${name}`);
    const po = P[p],
      u = uses[p],
      s = policyState(p),
      rep = replaced(p),
      rc = new Set(reachClusters(p)),
      repC = new Set(rep.map(w => w[1]));
    const out = [
      head(
        h(
          'span',
          { class: kc(po.kind) },
          h('i', { class: 'dot' }),
          K[po.kind].kind,
          isLocal(p) ? [', lives on ', clusterLinks(livesOn(p))] : '',
        ),
        `${po.ns}/${po.name}`,
        po.at,
        h('span', { class: 'tag ' + s[0] }, s[1]),
        conditions(po),
        rep.length ? h('span', { class: 'tag local' }, `replaced on ${clusterText([...repC])}`) : '',
      ),
      overlaidWhere(overlaysOnPolicy(p)),
      h('p'),
      h(
        'dl',
        { class: 'facts' },
        h('dt', null, 'Targets'),
        h(
          'dd',
          null,
          po.targets.map((t, i) => [i ? ', ' : '', targetLink(t)]),
        ),
        po.mode && [h('dt', null, 'As'), h('dd', null, po.mode + (po.strategy ? `, ${po.strategy}` : ''))],
      ),
    ];
    const lines = new Set();
    O.forEach(o =>
      o.set.forEach(x => {
        if (x[2] === p && x[3]) lines.add(x[3][1]);
      }),
    );
    const rs = new Set([...u.holds, ...u.partly].map(x => x[2]).filter(x => x >= 0)),
      gs = new Set([...u.holds, ...u.partly].map(x => x[0]));
    const reach = h(
      'div',
      { class: 'card pad' },
      h(
        'p',
        null,
        isLocal(p) ? 'Applies on ' : 'Affects ',
        h('b', null, clusterText([...rc])),
        ', ',
        h('b', null, n(gs.size, 'Gateway')),
        rs.size ? [' and ', h('b', null, n(rs.size, 'route'))] : '',
        '.',
      ),
      waffle(
        c => (repC.has(c) ? 2 : rc.has(c) ? 1 : 0),
        ['not affected', 'affected', 'overridden by a local policy'],
        `Affects ${clusterText([...rc])}`,
      ),
      rep.map(w =>
        h(
          'p',
          { class: 'small' },
          'On ',
          a(clHash(w[1]), C[w[1]].name),
          ' ',
          chip(w[2], { full: true }),
          ' is in effect instead: ',
          w[3],
          '.',
        ),
      ),
      [...u.by]
        .filter(([b]) => !isLocal(b))
        .slice(0, 8)
        .map(([b, rule], i) =>
          h(
            'p',
            { class: 'small' },
            i ? '' : h('b', null, 'Overridden '),
            'by ',
            chip(b, { full: true }),
            ': ',
            rule,
            '.',
          ),
        ),
      u.by.size > 8 ? h('p', { class: 'small muted' }, `and by ${u.by.size - 8} more`) : '',
    );
    out.push(
      h('p'),
      h(
        'div',
        { class: 'two' },
        h('section', null, h('h2', null, 'What it affects'), reach),
        h(
          'section',
          null,
          h('h2', null, 'Its text'),
          h('div', { class: 'card' }, codeBox((po.at && excerpt(...po.at)) || [0, ['']], 0, lines)),
        ),
      ),
    );
    const left = out[out.length - 1].firstChild;
    // where it holds
    const all = [
      ...u.holds.map(x => [x, 'ok', 'in effect']),
      ...u.partly.map(x => [x, 'warn', 'in part']),
      ...u.lost.map(x => [x, 'bad', 'overridden']),
    ];
    if (all.length) {
      const body = h('tbody'),
        m = group(all, ([x, c]) => x[0] + '|' + x[1] + '|' + c);
      for (const [, xs] of m) {
        const [x, c, t] = xs[0],
          rr = [...new Set(xs.map(y => y[0][2]).filter(y => y >= 0))];
        body.append(
          h(
            'tr',
            null,
            h(
              'td',
              null,
              a(gwHash(x[0]), `${G[x[0]].ns}/${G[x[0]].name}`),
              x[1] >= 0 ? ` \u203a ${G[x[0]].listeners[x[1]].name}` : '',
            ),
            h(
              'td',
              null,
              rr.length
                ? rr.length > 4
                  ? h(
                      'details',
                      null,
                      h('summary', null, `${R[rr[0]].name} and ${rr.length - 1} more`),
                      rr.map((y, i) => [i ? ', ' : '', a(rtHash(y), R[y].name)]),
                    )
                  : rr.map((y, i) => [i ? ', ' : '', a(rtHash(y), R[y].name)])
                : h('span', { class: 'muted' }, '\u2014'),
            ),
            h('td', null, h('span', { class: 'tag ' + c }, t)),
            h(
              'td',
              { class: 'small' },
              isLocal(p) ? clusterText(livesOn(p)) : clusterText(members(G[x[0]].clusters).filter(y => !repC.has(y))),
            ),
          ),
        );
      }
      left.append(
        h('h2', null, 'Where'),
        h(
          'div',
          { class: 'card' },
          table('Where it is in effect', ['Gateway and listener', 'Routes', 'State', 'Clusters'], body),
        ),
      );
    }
    if (po.ifDeleted)
      out.push(
        h('h2', null, 'If it were deleted'),
        po.ifDeleted.length
          ? po.ifDeleted.map(([refs, ch, clusters]) =>
              h(
                'div',
                { class: 'card kind' },
                h(
                  'header',
                  null,
                  h('span', null, refsText(refs)),
                  clusters !== undefined && h('span', { class: 'tag' }, `on ${clusterText(members(clusters))}`),
                  ch.every(x => x[2] < 0) && h('span', { class: 'tag bad' }, `no ${K[po.kind].kind} would be left`),
                ),
                delta(ch),
              ),
            )
          : h('p', { class: 'muted' }, 'Nothing would change.'),
        po.morePaths ? h('p', { class: 'muted' }, `and on ${n(po.morePaths, 'more path', 'more paths')}`) : '',
      );
    return out;
  };
  // Places in words: what is named is below what is not, so that a route stands for the listeners above it.
  function refsText(all) {
    const known = all.filter(x => x[0] >= 0),
      deep = known.filter(x => x[2] >= 0),
      refs = deep.length ? deep : known,
      before = all.length - known.length,
      gone = before
        ? h('span', { class: 'muted' }, `${refs.length ? ', and ' : ''}${n(before, 'path')} of before`)
        : '';
    if (!refs.length) return gone;
    const rs = new Set(deep.map(x => x[2])),
      gs = new Set(refs.map(x => x[0])),
      one = refs[0],
      gw = G[one[0]];
    if (rs.size === 1) {
      const r = one[2],
        ru = [...new Set(refs.map(x => x[3]).filter(x => x >= 0))].sort((x, y) => x - y),
        every = !ru.length || ru.length === R[r].rules.length,
        bs = [...new Set(refs.map(x => x[4]).filter(x => x >= 0))];
      return [
        a(rtHash(r), `${R[r].ns}/${R[r].name}`),
        every
          ? R[r].rules.length > 1
            ? R[r].rules.length === 2
              ? ', both rules'
              : `, all ${R[r].rules.length} rules`
            : ''
          : `, ${ru.map(x => ruleName(r, x)).join(', ')}`,
        bs.length ? `, to ${bs.map(b => B[b].text).join(', ')}` : '',
        h(
          'span',
          { class: 'muted' },
          ` through ${gw.ns}/${gw.name}` + (one[1] >= 0 && gs.size === 1 ? ` \u203a ${gw.listeners[one[1]].name}` : ''),
        ),
        gone,
      ];
    }
    if (rs.size > 1)
      return [
        h(
          'details',
          null,
          h('summary', null, `${R[one[2]].name} and ${n(rs.size - 1, 'more route', 'more routes')}`),
          [...rs].map((r, i) => [i ? ', ' : '', a(rtHash(r), R[r].name)]),
        ),
        h('span', { class: 'muted' }, gs.size === 1 ? ` of ${gw.ns}/${gw.name}` : ` of ${n(gs.size, 'Gateway')}`),
        gone,
      ];
    return [...gs]
      .slice(0, 4)
      .map((g, i) => [
        i ? ', ' : '',
        a(gwHash(g), `${G[g].ns}/${G[g].name}`),
        gs.size === 1 && refs.some(x => x[1] >= 0)
          ? ' \u203a ' +
            [...new Set(refs.map(x => x[1]).filter(x => x >= 0))].map(li => G[g].listeners[li].name).join(', ')
          : '',
      ])
      .concat(gs.size > 4 ? [` and ${gs.size - 4} more`] : [], gone);
  }
  function leaves(v, p, m) {
    if (v && typeof v === 'object' && !Array.isArray(v) && Object.keys(v).length)
      for (const k in v) leaves(v[k], p ? p + '.' + k : k, m);
    else if (Array.isArray(v) && v.some(x => x && typeof x === 'object'))
      v.forEach((x, i) => leaves(x, `${p}[${i}]`, m));
    else m.set(p, v);
    return m;
  }
  const flat = v => (v && typeof v === 'object' ? JSON.stringify(v) : String(v));
  function delta(ch) {
    const box = h('div', { class: 'delta' });
    ch.forEach(([nm, o, w, from], i) => {
      const e = i === ch.length - 1 ? ' e' : '';
      let body;
      if (o >= 0 && w >= 0) {
        const x = leaves(D.values[o], '', new Map()),
          y = leaves(D.values[w], '', new Map());
        body = [...new Set([...x.keys(), ...y.keys()])]
          .filter(k => flat(x.get(k)) !== flat(y.get(k)))
          .map(k =>
            h(
              'div',
              null,
              k && h('span', { class: 'muted small' }, k, '  '),
              x.has(k) && h('del', null, flat(x.get(k))),
              x.has(k) && y.has(k) ? ' \u2192 ' : '',
              y.has(k) && h('ins', null, flat(y.get(k))),
            ),
          );
      } else {
        const l = [];
        valueLines(D.values[o >= 0 ? o : w], 0, l);
        body = h(
          'div',
          { class: 'blk' },
          h(
            o >= 0 ? 'del' : 'ins',
            null,
            l.map((z, j) => [j ? '\n' : '', z[0], z[1] !== null ? z[1] + (z[2] !== '' ? ': ' : '') : '', z[2]]),
          ),
        );
      }
      box.append(
        h(
          'div',
          { class: 'nm' + e },
          settingName(nm),
          h(
            'div',
            null,
            o < 0 ? h('span', { class: 'tag add' }, 'added') : w < 0 ? h('span', { class: 'tag bad' }, 'gone') : '',
          ),
        ),
        h(
          'div',
          { class: e },
          body,
          from !== undefined && from >= 0 ? h('div', { class: 'small' }, 'from ', chip(from, { full: true })) : '',
        ),
      );
    });
    return box;
  }

  /* ---------- clusters ---------- */
  V.clusters = () => {
    const cg = clusterGroups(),
      big = cg.slice().sort((x, y) => y.ix.length - x.ix.length)[0],
      exAll = new Set();
    D.exceptions.forEach(x => members(x.clusters).forEach(c => exAll.add(c)));
    const troubled = new Set(W ? W.problems.map(x => x.cluster) : []);
    const reportOf = ix => {
      const bad = ix.filter(c => troubled.has(c));
      return bad.length
        ? [h('span', { class: 'tag bad' }, 'not as planned'), ' ', clusterLinks(bad, 4)]
        : h('span', { class: 'muted' }, 'as planned');
    };
    const groupOf = new Map();
    cg.forEach(x => x.ix.forEach(c => groupOf.set(c, x)));
    const gset = new Set(big ? big.gws : []),
      names = xs =>
        xs
          .slice(0, 3)
          .map(g => `${G[g].ns}/${G[g].name}`)
          .join(', ') + (xs.length > 3 ? ` and ${xs.length - 3} more` : '');
    const body = h(
      'tbody',
      null,
      cg.map(x => {
        const plus = x.gws.filter(g => !gset.has(g)),
          minus = [...gset].filter(g => !x.gws.includes(g)),
          ex = x.ix.filter(c => exAll.has(c));
        return h(
          'tr',
          null,
          h(
            'th',
            { scope: 'row' },
            x.ix.length === 1
              ? a(clHash(x.ix[0]), C[x.ix[0]].name)
              : h('details', null, h('summary', null, clusterText(x.ix)), nameList(x.ix)),
            named(x.ix) && h('div', { class: 'small muted' }, named(x.ix)),
          ),
          h('td', { class: 'num right' }, x.ix.length.toLocaleString('en')),
          h('td', { class: 'num right' }, x.gws.length),
          h(
            'td',
            { class: 'small' },
            x === big
              ? h('span', { class: 'muted' }, 'the largest group')
              : [
                  minus.length ? h('div', null, h('del', null, '\u2212 ', names(minus))) : '',
                  plus.length ? h('div', null, h('ins', null, '+ ', names(plus))) : '',
                ],
          ),
          h('td', { class: 'small' }, ex.length ? clusterLinks(ex, 6) : h('span', { class: 'muted' }, 'none')),
          W && h('td', { class: 'small' }, reportOf(x.ix)),
        );
      }),
    );
    const pick = i =>
        h('input', {
          class: 'filter',
          list: 'cl-list',
          'aria-label': i ? 'Second cluster' : 'First cluster',
          value: ALL ? C[i ? Math.min(1, ALL - 1) : 0].name : '',
        }),
      A1 = pick(0),
      B1 = pick(1);
    return [
      h('h1', { tabindex: -1 }, 'Clusters'),
      h(
        'p',
        { class: 'lead' },
        h('b', null, n(ALL, 'cluster')),
        ' in ',
        h('b', null, n(cg.length, 'group')),
        ' by what they receive',
        exAll.size
          ? [
              '; ',
              h('b', null, String(exAll.size)),
              exAll.size === 1
                ? ' has a policy of its own that changes something'
                : ' have policies of their own that change something',
            ]
          : '',
        '.',
      ),
      h(
        'div',
        { class: 'card pad' },
        waffle(
          c => (troubled.has(c) ? 4 : exAll.has(c) ? 2 : groupOf.get(c).gws.length ? 1 : 0),
          ['receives nothing', 'receives Gateways', 'has a policy of its own', '', 'works are not as planned'],
          'All clusters',
        ),
      ),
      h('h2', null, 'Groups'),
      h(
        'div',
        { class: 'card' },
        table(
          'Clusters that receive the same',
          [
            'Clusters',
            h('th', { scope: 'col', class: 'right' }, 'How many'),
            h('th', { scope: 'col', class: 'right' }, 'Gateways'),
            'Against the largest group',
            'With a policy of their own',
            ...(W ? ['Reported'] : []),
          ],
          body,
        ),
      ),
      ALL > 1
        ? [
            h('h2', null, 'Compare two'),
            h(
              'form',
              {
                class: 'row',
                onsubmit: e => {
                  e.preventDefault();
                  location.hash = `#/compare/${enc(A1.value)}/${enc(B1.value)}`;
                },
              },
              h(
                'datalist',
                { id: 'cl-list' },
                C.map(c => h('option', { value: c.name })),
              ),
              A1,
              'with',
              B1,
              h('button', { class: 'btn' }, 'Compare'),
            ),
          ]
        : '',
    ];
  };
  const clIx = nm => C.findIndex(c => c.name === nm);
  const excOf = c => D.exceptions.filter(x => inSet(x.clusters, c));
  V.cluster = (q, name) => {
    const c = clIx(name);
    if (c < 0) return missing('cluster', name);
    const gws = G.map((_, g) => g).filter(g => inSet(G[g].clusters, c)),
      local = P.map((_, p) => p).filter(p => livesOn(p).includes(c)),
      wh = D.withheld.filter(w => w[1] === c),
      ex = excOf(c),
      whP = new Set(wh.map(w => w[0])),
      changes = D.overlays.filter(v => inSet(v.clusters, c));
    const peers = C.map((_, i) => i).filter(
      i => i !== c && [...G, ...D.overlays].every(x => inSet(x.clusters, i) === inSet(x.clusters, c)),
    );
    const shipped = g =>
      P.map((_, p) => p).filter(
        p =>
          !isLocal(p) &&
          P[p].targets.some(t =>
            t[0] === 'g' || t[0] === 's' ? t[1] === g : t[0] === 'r' && R[t[1]].on.some(o => o[0] === g),
          ),
      );
    return [
      head(
        'Cluster',
        C[c].name,
        C[c].at,
        (C[c].taints || []).map(t => h('span', { class: 'tag warn' }, 'taint ', t)),
      ),
      h('p'),
      h(
        'dl',
        { class: 'facts' },
        Object.entries(C[c].labels).map(([k, v]) => [h('dt', null, k.split('/').pop()), h('dd', { title: k }, v)]),
        h('dt', null, 'Receives the same as'),
        h('dd', null, peers.length ? clusterLinks(peers, 4) : 'no other cluster'),
      ),
      W
        ? [
            h('h2', null, 'What it reports'),
            problemsOn(c).length
              ? problems(problemsOn(c))
              : h('p', { class: 'muted' }, 'Everything is applied as planned.'),
          ]
        : '',
      ex.length || local.length ? h('h2', null, ex.length ? 'Different here' : 'Lives here already') : '',
      ex.length
        ? h(
            'div',
            { class: 'card kind differs' + (local.length ? '' : ' overlaid') },
            local.length
              ? h(
                  'header',
                  null,
                  h('span', { class: 'tag local' }, n(local.length, 'policy lives', 'policies live'), ' here'),
                  local.map(p => chip(p, { full: true })),
                  local.map(p => src(P[p].at)),
                )
              : '',
            ex.map(x =>
              h(
                'div',
                null,
                h('div', { class: 'elsewhere' }, h('b', null, K[x.kind].kind), ' ', refsText(x.on)),
                delta(outcomeDelta(x.old, x.new)),
              ),
            ),
            wh.length
              ? h(
                  'p',
                  { class: 'pad small muted' },
                  'Not shipped here: ',
                  wh.map(w => [chip(w[0], { lost: true, full: true }), ' ', w[3], '. ']),
                )
              : '',
          )
        : local.length
          ? h(
              'p',
              null,
              local.map(p => [chip(p, { full: true }), ' ', src(P[p].at), ' ']),
            )
          : '',
      changes.length
        ? [
            h('h2', null, 'Changed here by ClusterOverlays'),
            h(
              'div',
              { class: 'card kind differs overlaid' },
              overlayList(changes, v => `changes ${locatorText(v.object)}: `),
            ),
          ]
        : '',
      h('h2', null, `Receives ${n(gws.length, 'Gateway')}`),
      gws.length
        ? h(
            'div',
            { class: 'card' },
            table(
              'Gateways on this cluster',
              ['Gateway', 'Policies with it', 'Selected by'],
              h(
                'tbody',
                null,
                gws.map(g =>
                  h(
                    'tr',
                    null,
                    h(
                      'th',
                      { scope: 'row' },
                      a(gwHash(g), `${G[g].ns}/${G[g].name}`),
                      h('div', { class: 'small muted' }, n(routesOf[g].length, 'route')),
                    ),
                    h(
                      'td',
                      null,
                      h(
                        'div',
                        { class: 'chips' },
                        shipped(g)
                          .slice(0, 12)
                          .map(p => chip(p, { lost: whP.has(p), title: whP.has(p) ? 'not shipped here' : '' })),
                        shipped(g).length > 12
                          ? h('span', { class: 'muted small' }, `and ${shipped(g).length - 12} more`)
                          : '',
                      ),
                    ),
                    h(
                      'td',
                      { class: 'small' },
                      G[g].placement >= 0
                        ? a(
                            plHash(G[g].placement),
                            `${D.placements[G[g].placement].ns}/${D.placements[G[g].placement].name}`,
                          )
                        : '',
                    ),
                  ),
                ),
              ),
            ),
          )
        : h('p', { class: 'muted' }, 'No Placement selects it.'),
      h('h2', null, 'Placements that leave it out'),
      (() => {
        const xs = D.placements.map((p, i) => [p, i]).filter(([p]) => !inSet(p.clusters, c));
        return xs.length
          ? h(
              'div',
              { class: 'card' },
              table(
                'Placements that leave it out',
                ['Placement', 'Why'],
                h(
                  'tbody',
                  null,
                  xs.map(([p, i]) => {
                    let w = null;
                    for (const s of p.steps) for (const d of s.dropped) if (!w && inSet(d.clusters, c)) w = d;
                    return h(
                      'tr',
                      null,
                      h('th', { scope: 'row' }, a(plHash(i), `${p.ns}/${p.name}`)),
                      h('td', null, w ? [w.reason, ' ', src(w.at)] : 'not in its decisions'),
                    );
                  }),
                ),
              ),
            )
          : h('p', { class: 'muted' }, 'None.');
      })(),
    ];
  };
  function outcomeDelta(o, w) {
    const m = new Map();
    if (o >= 0) O[o].set.forEach(s => m.set(s[0], [s[1], -1, -1]));
    if (w >= 0)
      O[w].set.forEach(s => {
        const x = m.get(s[0]) || [-1, -1, -1];
        x[1] = s[1];
        x[2] = s[2];
        m.set(s[0], x);
      });
    return [...m].filter(([, x]) => x[0] !== x[1]).map(([k, x]) => [k, ...x]);
  }
  V.compare = (q, n1, n2) => {
    const x = clIx(n1),
      y = clIx(n2);
    if (x < 0 || y < 0) return missing('cluster', x < 0 ? n1 : n2);
    const only = (p, r) => G.map((_, g) => g).filter(g => inSet(G[g].clusters, p) && !inSet(G[g].clusters, r)),
      ox = only(x, y),
      oy = only(y, x),
      both = G.filter(g => inSet(g.clusters, x) && inSet(g.clusters, y)).length;
    const shared = z => z.on.some(o => inSet(G[o[0]].clusters, x) && inSet(G[o[0]].clusters, y)),
      e = [
        ...excOf(x)
          .filter(z => !inSet(z.clusters, y) && shared(z))
          .map(z => [x, z]),
        ...excOf(y)
          .filter(z => !inSet(z.clusters, x) && shared(z))
          .map(z => [y, z]),
      ];
    const lst = (c, xs) =>
      h(
        'section',
        { class: 'card pad' },
        h('h3', null, `Only on ${C[c].name}`),
        xs.length
          ? h(
              'ul',
              null,
              xs.map(g => h('li', null, a(gwHash(g), `${G[g].ns}/${G[g].name}`))),
            )
          : h('p', { class: 'muted' }, 'nothing'),
      );
    return [
      h('div', { class: 'crumb' }, a('#/clusters', 'Clusters')),
      h('h1', { tabindex: -1 }, `${C[x].name} and ${C[y].name}`),
      h(
        'p',
        { class: 'lead' },
        h('b', null, n(both, 'Gateway')),
        ' on both, ',
        h('b', null, String(ox.length)),
        ` only on ${C[x].name}, `,
        h('b', null, String(oy.length)),
        ` only on ${C[y].name}; `,
        h('b', null, n(e.length, 'setting group')),
        ' with another outcome.',
      ),
      h('div', { class: 'two' }, lst(x, ox), lst(y, oy)),
      e.length ? h('h2', null, 'Same Gateway, other settings') : '',
      e.map(([c, z]) =>
        h(
          'div',
          { class: 'card kind differs' },
          h(
            'header',
            null,
            h('b', null, K[z.kind].kind),
            refsText(z.on),
            h('span', { class: 'tag local' }, `${C[c === x ? y : x].name} \u2192 ${C[c].name}`),
          ),
          delta(outcomeDelta(z.old, z.new)),
        ),
      ),
    ];
  };

  /* ---------- placement ---------- */
  V.placements = () => [
    h('h1', { tabindex: -1 }, 'Placements'),
    h('p', { class: 'lead' }, 'Which clusters each selects.'),
    h(
      'div',
      { class: 'card' },
      table(
        'Placements',
        ['Placement', 'Selects', 'Gateways', 'Decided by'],
        h(
          'tbody',
          null,
          D.placements.map((p, i) =>
            h(
              'tr',
              { class: 'hov' },
              h('th', { scope: 'row' }, a(plHash(i), `${p.ns}/${p.name}`)),
              h('td', null, clusterText(members(p.clusters), true)),
              h(
                'td',
                null,
                G.map((x, g) => [x, g])
                  .filter(([x]) => x.placement === i)
                  .map(([, g], j) => [j ? ', ' : '', a(gwHash(g), G[g].name)]),
              ),
              h('td', { class: 'small muted' }, p.source === 'decisions' ? 'committed decisions' : 'evaluation'),
            ),
          ),
        ),
      ),
    ),
  ];
  V.placement = (q, ns, name) => {
    const i = D.placements.findIndex(p => p.ns === ns && p.name === name);
    if (i < 0) return missing('Placement', `${ns}/${name}`);
    const p = D.placements[i],
      sel = new Set(members(p.clusters)),
      bar = k => {
        const s = h(
          'svg',
          { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
          h('rect', { width: (100 * k) / Math.max(1, D.managedClusters), height: 10 }),
        );
        return s;
      };
    const f = h('div', { class: 'funnel card pad' });
    f.append(
      h(
        'div',
        null,
        h('b', null, D.managedClusters.toLocaleString('en')),
        h('div', { class: 'small muted' }, 'clusters'),
      ),
      h('div', null, bar(D.managedClusters)),
    );
    for (const { name: nm, left, dropped } of p.steps)
      f.append(
        h('div', null, h('b', null, left.toLocaleString('en')), h('div', { class: 'small muted' }, nm)),
        h(
          'div',
          null,
          bar(left),
          dropped.map(({ reason: t, at, clusters: s }) =>
            h(
              'div',
              { class: 'small' },
              h('span', { class: 'tag bad' }, `\u2212${members(s).length}`),
              ' ',
              t,
              ' ',
              src(at),
              h(
                'div',
                { class: 'muted' },
                members(s).length <= 12
                  ? clusterLinks(members(s), 12)
                  : h('details', null, h('summary', null, clusterText(members(s), true)), nameList(members(s))),
              ),
            ),
          ),
        ),
      );
    const lock = p.source === 'decisions' && p.evaluated !== p.clusters;
    return [
      head(
        'Placement',
        `${p.ns}/${p.name}`,
        p.at,
        p.conditions.map(c =>
          h(
            'span',
            {
              class: 'tag ' + ((c.type === 'PlacementSatisfied') === (c.status === 'True') ? 'ok' : 'bad'),
              title: c.message,
            },
            c.message,
          ),
        ),
        h(
          'span',
          { class: 'tag' },
          p.source === 'decisions' ? 'decided by committed decisions' : 'decided by evaluation',
        ),
      ),
      lock
        ? h('p', { class: 'note' }, 'Evaluation would select ', clusterText(members(p.evaluated), true), ' instead.')
        : '',
      h('h2', null, `Selects ${clusterText([...sel], true)}`),
      h(
        'div',
        { class: 'card pad' },
        waffle(c => (sel.has(c) ? 1 : 0), ['left out', 'selected'], `Selects ${clusterText([...sel])}`),
      ),
      h('h2', null, 'How it was decided'),
      f,
      p.prioritizers?.length
        ? h(
            'p',
            { class: 'small muted' },
            'Ranked by ',
            p.prioritizers.map(x => `${x.name} (weight ${x.weight})`).join(', '),
            p.wanted ? `; ${p.wanted} wanted.` : '; all are wanted.',
          )
        : '',
      h('h2', null, 'Gateways placed by it'),
      h(
        'p',
        null,
        G.map((x, g) => [x, g])
          .filter(([x]) => x.placement === i)
          .map(([x, g], j) => [j ? ', ' : '', a(gwHash(g), `${x.ns}/${x.name}`)]),
      ),
    ];
  };

  /* ---------- the change ---------- */
  const changedClusters = () => {
    const m = new Map();
    for (const g of D.change.clusters) members(g.clusters).forEach(c => m.set(c, g.presence));
    return m;
  };
  const refsOf = e => e.where.flatMap(x => x[1]);
  // Where a kind holds no longer although the route is still there: not where a Gateway or a route goes away.
  const isThere = (x, c) =>
    x[2] >= 0
      ? R[x[2]].on.some(on => on[0] === x[0] && (x[1] < 0 || on[1] === x[1]) && onClusters(on).includes(c))
      : inSet(G[x[0]].clusters, c);
  const lostRefs = e =>
    e.oldPolicies.length && !e.newPolicies.length
      ? e.where.flatMap(([s, refs]) => refs.filter(x => x[0] >= 0 && members(s).some(c => isThere(x, c))))
      : [];
  const lostRoutes = () =>
    new Set(
      D.change.effective
        .flatMap(lostRefs)
        .map(x => x[2])
        .filter(r => r >= 0),
    );
  const lostCache = new Map();
  const lostKind = e => {
    if (!lostCache.has(e)) lostCache.set(e, lostRefs(e).length > 0);
    return lostCache.get(e);
  };
  const routesIn = es => new Set(es.flatMap(e => refsOf(e).map(x => x[2])).filter(x => x >= 0));
  function changeLine(brief) {
    const rs = routesIn(D.change.effective),
      o = D.change.summary.objects;
    return (
      `${n(rs.size, 'route gets', 'routes get')} other settings` +
      (brief
        ? ''
        : `; ${n(o.added, 'object')} added, ${o.changed.toLocaleString('en')} changed, ` +
          `${o.removed.toLocaleString('en')} removed`)
    );
  }
  V.changes = () => {
    if (!D.change)
      return [
        h('h1', { tabindex: -1 }, 'Changes'),
        h('p', { class: 'lead' }, 'This page was made without a base to compare with.'),
      ];
    const X = D.change,
      s = X.summary,
      st = changedClusters(),
      loss = X.effective.filter(lostKind),
      lossR = lostRoutes(),
      size = e => e.where.reduce((t, [c, r]) => t + members(c).length * r.length, 0);
    const eff = X.effective.slice().sort((x, y) => (lostKind(y) ? 1 : 0) - (lostKind(x) ? 1 : 0) || size(y) - size(x));
    const pol = xs => xs.map(([t, p], i) => [i ? ', ' : '', p >= 0 ? chip(p, { full: true }) : t]);
    // The settings that differ, by name; none for a policy whose form is not known
    const settingNames = ch => {
      const text = i => JSON.stringify(i >= 0 ? D.values[i] : null),
        names = ch.filter(([, o, w]) => text(o) !== text(w)).map(([k]) => k.replace(/^\//, '').replaceAll('/', '.'));
      return names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '');
    };
    const card = e => {
      const same = JSON.stringify(e.oldPolicies.map(x => x[0])) === JSON.stringify(e.newPolicies.map(x => x[0])),
        all = [...new Set(e.where.flatMap(x => members(x[0])))],
        fresh = all.filter(c => st.get(c) === 'new');
      return h(
        'section',
        { class: 'card kind ' + kc(e.kind) },
        h(
          'header',
          null,
          h('h3', null, h('i', { class: 'dot' }), e.kindName),
          h(
            'span',
            null,
            !e.newPolicies.length
              ? [
                  h('span', { class: 'tag bad' }, lostKind(e) ? 'no longer applies' : 'removed with its path'),
                  ' ',
                  e.oldPolicies.map(x => x[0]).join(', '),
                ]
              : !e.oldPolicies.length
                ? [h('span', { class: 'tag add' }, 'new'), ' ', pol(e.newPolicies)]
                : same
                  ? [pol(e.newPolicies), ' changes ' + (settingNames(e.ch) || 'its spec')]
                  : [pol(e.newPolicies), ' instead of ', e.oldPolicies.map(x => x[0]).join(', ')],
          ),
          h('span', { class: 'tag' }, `on ${clusterText(all)}`),
          fresh.length ? h('span', { class: 'tag add' }, `on ${clusterText(fresh)} for the first time`) : '',
        ),
        delta(e.ch),
        h(
          'div',
          { class: 'refs small' },
          e.where
            .slice(0, 6)
            .map(([c, r]) =>
              h(
                'div',
                { class: 'row' },
                h('span', null, refsText(r)),
                e.where.length > 1 && h('span', { class: 'muted' }, `on ${clusterText(members(c))}`),
              ),
            ),
          e.where.length > 6 && h('div', { class: 'muted' }, `and ${e.where.length - 6} more places`),
        ),
      );
    };
    // Gateways that come to clusters, or leave them
    const moves = [
      ...group(
        X.objects.filter(x => x.kind === 'Gateway' && x.change !== 'changed'),
        x => x.ns + '/' + x.name,
      ),
    ].map(([, xs]) => xs);
    const oc = { added: 'add', changed: 'warn', removed: 'bad' },
      body = h('tbody'),
      order = { removed: 0, changed: 1, added: 2 };
    const isWork = x => x.kind === 'ManifestWork' || x.kind === 'ManifestWorkReplicaSet',
      works = X.objects.filter(isWork);
    const rows = [
      ...group(
        X.objects.filter(x => !isWork(x)),
        x =>
          x.change === 'changed'
            ? JSON.stringify([x.kind, x.ns, x.name, x.clusters, x.fields])
            : JSON.stringify([x.change, x.clusters, x.gone, x.work]),
      ),
    ]
      .map(x => x[1])
      .sort((x, y) => order[x[0].change] - order[y[0].change]);
    const nm = x => [x.kind, ' ', h('span', { class: 'muted' }, `${x.ns ? x.ns + '/' : ''}${x.name}`)],
      place = x =>
        x.at &&
        (x.at[2] === 'old'
          ? h('span', { class: 'muted small' }, x.at[0], ':', x.at[1], ' before')
          : src([x.at[0], x.at[1]]));
    const drawRow = xs => {
      const x = xs[0],
        where = h(
          'td',
          { class: 'small nowrap' },
          clusterText([...members(x.clusters)]) +
            (x.gone.length
              ? (members(x.clusters).length ? ', ' : '') +
                x.gone.slice(0, 3).join(', ') +
                (x.gone.length > 3 ? ` and ${x.gone.length - 3} more` : '')
              : ''),
        ),
        t = h('td', null, h('span', { class: 'tag ' + oc[x.change] }, x.change));
      if (x.change === 'changed')
        return h(
          'tr',
          null,
          t,
          h('th', { scope: 'row' }, nm(x)),
          where,
          h(
            'td',
            { class: 'flds small' },
            x.fields.map(f =>
              h(
                'div',
                null,
                h('span', { class: 'muted mono' }, f[0], ' '),
                f[1] >= 0 && h('del', null, flat(D.values[f[1]])),
                f[1] >= 0 && f[2] >= 0 ? ' \u2192 ' : '',
                f[2] >= 0 && h('ins', null, flat(D.values[f[2]])),
              ),
            ),
          ),
          h('td', { class: 'srcs' }, place(x)),
        );
      return h(
        'tr',
        null,
        t,
        h(
          'th',
          { scope: 'row' },
          xs.length === 1
            ? nm(x)
            : h(
                'details',
                null,
                h('summary', null, n(xs.length, 'object'), ' of ', x.work),
                h(
                  'ul',
                  { class: 'small' },
                  xs.map(y => h('li', null, nm(y), ' ', place(y))),
                ),
              ),
        ),
        where,
        h('td'),
        h('td', { class: 'srcs' }, xs.length === 1 && place(x)),
      );
    };
    const more = portions(body, rows, drawRow),
      objHeads = [h('td'), 'Object', 'Clusters', 'Fields', 'Source'];
    return [
      h('div', { class: 'crumb' }, `${X.old} \u2192 ${X.new}`),
      h(
        'h1',
        { tabindex: -1 },
        s.changedClusters >= ALL ? 'All ' : `${s.changedClusters.toLocaleString('en')} of `,
        n(Math.max(ALL, s.changedClusters), 'cluster'),
        s.changedClusters === 1 ? ' changes' : ' change',
      ),
      h('p', { class: 'lead' }, changeLine(), '.'),
      loss.length
        ? h(
            'p',
            { class: 'note bad' },
            h('b', null, `${n(lossR.size, 'route loses', 'routes lose')} a kind of policy altogether: `),
            [...new Set(loss.map(e => e.kindName))].join(', '),
          )
        : '',
      h(
        'div',
        { class: 'card pad' },
        waffle(
          c => ({ both: 1, new: 3, old: 4 })[st.get(c)] || 0,
          ['unchanged', 'changes', '', 'receives its first Gateway', 'loses its last Gateway'],
          changeLine(),
        ),
      ),
      moves.length
        ? [
            h('h2', null, 'Gateways that move'),
            h(
              'div',
              { class: 'card' },
              table(
                'Gateways that move',
                ['Gateway', 'Comes to', 'Leaves'],
                h(
                  'tbody',
                  null,
                  moves.map(xs => {
                    const on = k => {
                        const ys = xs.filter(x => x.change === k),
                          c = [...new Set(ys.flatMap(y => members(y.clusters)))],
                          gone = ys.flatMap(y => y.gone);
                        return c.length || gone.length
                          ? h(
                              k === 'added' ? 'ins' : 'del',
                              null,
                              [c.length ? clusterText(c, true) : '', ...gone.slice(0, 3)].filter(Boolean).join(', '),
                            )
                          : h('span', { class: 'muted' }, '\u2014');
                      },
                      of = (xs.find(x => x.gateway) || {}).gateway,
                      g = G.findIndex(y => `${y.ns}/${y.name}` === of);
                    return h(
                      'tr',
                      null,
                      h(
                        'th',
                        { scope: 'row' },
                        g >= 0 ? a(gwHash(g), `${G[g].ns}/${G[g].name}`) : `${xs[0].ns}/${xs[0].name}`,
                      ),
                      h('td', null, on('added')),
                      h('td', null, on('removed')),
                    );
                  }),
                ),
              ),
            ),
          ]
        : '',
      h('h2', null, 'Settings that change'),
      X.tooMuch
        ? h('p', { class: 'note' }, 'There are too many settings to compare those of both sides.')
        : eff.length
          ? eff.map(card)
          : h('p', { class: 'muted' }, 'None: only objects change.'),
      h('h2', null, 'Objects that change on the clusters'),
      h('div', { class: 'card' }, table('Objects that change', objHeads, body), more),
      works.length
        ? h(
            'details',
            null,
            h('summary', null, `${n(works.length, 'ManifestWork')} with changes of their own, such as feedback rules`),
            h(
              'div',
              { class: 'card' },
              table(
                'Works that change',
                objHeads.map(x => (x.nodeType ? h('td') : x)),
                h(
                  'tbody',
                  null,
                  works.map(x => drawRow([x])),
                ),
              ),
            ),
          )
        : '',
    ];
  };
  V.findings = () => {
    const m = group(D.findings, f => f.severity + '|' + f.code),
      body = h('tbody'),
      rows = [];
    for (const [k, fs] of m) {
      rows.push([null, k, fs]);
      fs.forEach(f => rows.push([f]));
    }
    const more = portions(body, rows, ([f, k, fs]) =>
      f
        ? h(
            'tr',
            null,
            h('td', null, f.message, f.help && h('div', { class: 'small muted' }, f.help)),
            h('td', { class: 'small' }, src(f.at)),
          )
        : h(
            'tr',
            { class: 'sec' },
            h(
              'th',
              { colspan: 2, scope: 'colgroup' },
              h('span', { class: 'tag ' + (k.startsWith('error') ? 'bad' : 'warn') }, k.split('|')[0]),
              ' ',
              k.split('|')[1],
              h('span', { class: 'muted' }, `  ${fs.length}`),
            ),
          ),
    );
    return [
      h('h1', { tabindex: -1 }, 'Findings'),
      h('p', { class: 'lead' }, D.findings.length ? h('b', null, n(D.findings.length, 'finding')) : 'None.'),
      D.findings.length ? h('div', { class: 'card' }, table('Findings', ['Finding', 'Place'], body), more) : '',
    ];
  };
  const missing = (what, name) => [
    h('h1', { tabindex: -1 }, 'Not here'),
    h('p', { class: 'lead' }, `There is no ${what} `, h('b', null, name), ' on this page. '),
    h('p', null, a('#/', 'To the overview')),
  ];

  /* ---------- search ---------- */
  let index = null;
  function buildIndex() {
    index = [];
    const add = (type, label, sub, href, hay, w) =>
      index.push({ type, label, sub, href, hay: (label + ' ' + hay).toLowerCase(), name: label.toLowerCase(), w });
    R.forEach((r, i) =>
      add(
        'Routes',
        `${r.ns}/${r.name}`,
        `${r.hostnames.join(', ')}  ${r.rules
          .flatMap(x => x.matches)
          .slice(0, 4)
          .join('  ')}`,
        rtHash(i),
        r.hostnames.join(' ') +
          ' ' +
          r.rules.flatMap(x => x.matches).join(' ') +
          ' ' +
          r.hostnames
            .flatMap(x => r.rules.flatMap(y => y.matches.map(z => x + z)))
            .slice(0, 24)
            .join(' '),
        0,
      ),
    );
    G.forEach((g, i) =>
      add(
        'Gateways',
        `${g.ns}/${g.name}`,
        g.listeners.map(l => l.hostname).join(', '),
        gwHash(i),
        g.listeners.map(l => l.hostname).join(' '),
        1,
      ),
    );
    P.forEach((p, i) =>
      add(
        'Policies',
        `${p.ns}/${p.name}`,
        K[p.kind].kind + (p.cluster !== undefined ? ` on ${C[p.cluster].name}` : ''),
        poHash(i),
        K[p.kind].kind + ' ' + (p.at ? p.at[0] : ''),
        2,
      ),
    );
    C.forEach((c, i) =>
      add(
        'Clusters',
        c.name,
        Object.entries(c.labels)
          .map(([k, v]) => `${k.split('/').pop()}=${v}`)
          .join('  '),
        clHash(i),
        Object.values(c.labels).join(' '),
        3,
      ),
    );
    D.placements.forEach((p, i) =>
      add('Placements', `${p.ns}/${p.name}`, clusterText(members(p.clusters)), plHash(i), '', 4),
    );
  }
  // An address is answered as a Gateway would: the most specific host, then the longest path.
  function resolve(t) {
    const m = t.replace(/^[a-z]+:\/\//, '').match(/^([a-z0-9*-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(\/.*)?$/i);
    if (!m) return [];
    const host = m[1].toLowerCase(),
      path = m[2] || '/',
      hit = [];
    const fits = p =>
      p === '*'
        ? 1
        : p === host
          ? 1000 + p.length
          : p.startsWith('*.') && host.endsWith(p.slice(1))
            ? 10 + p.length
            : 0;
    R.forEach((r, i) => {
      if (!r.on.length) return;
      let hs = 0;
      for (const x of r.hostnames.length ? r.hostnames : r.on.map(o => G[o[0]].listeners[o[1]].hostname))
        hs = Math.max(hs, fits(x));
      if (!hs) return;
      r.rules.forEach((rule, ru) => {
        for (const x of rule.matches) {
          const exact = x.startsWith('= '),
            p = (exact ? x.slice(2) : x).split(' ')[0];
          if (!p.startsWith('/')) continue;
          const ok = exact ? path === p : p === '/' || path === p || path.startsWith(p.endsWith('/') ? p : p + '/');
          if (ok) hit.push([hs, exact ? 1e6 : p.length, i, ru]);
        }
      });
    });
    hit.sort((x, y) => y[0] - x[0] || y[1] - x[1]);
    return hit.length ? hit.filter(x => x[0] === hit[0][0] && x[1] === hit[0][1]).slice(0, 3) : [];
  }
  function search(t) {
    t = t.trim().toLowerCase();
    if (!t) return [];
    if (!index) buildIndex();
    const out = resolve(t).map(([, , r, ru]) => {
      const vs = variants(r),
        vi = vs.findIndex(v => v.rus.includes(ru));
      return {
        type: `${t} is served by`,
        label: `${R[r].ns}/${R[r].name}`,
        sub: `rule-${ru + 1}: ${R[r].rules[ru].matches.join(', ')}  through ${G[R[r].on[0][0]].name}`,
        href: rtHash(r) + (vi > 0 ? (rtHash(r).includes('?') ? '&' : '?') + 'path=' + (vi + 1) : ''),
        w: -1,
        s: 0,
      };
    });
    const words = t.split(/\s+/),
      hits = [];
    for (const e of index) {
      if (!words.every(x => e.hay.includes(x))) continue;
      const nm = e.name.split('/').pop();
      hits.push({ ...e, s: nm === t || e.name === t ? 0 : nm.startsWith(t) ? 1 : e.name.includes(t) ? 2 : 3 });
    }
    hits.sort((x, y) => x.s - y.s || x.w - y.w || x.name.length - y.name.length);
    return [...out, ...hits.slice(0, 24).sort((x, y) => x.w - y.w || x.s - y.s)]
      .slice(0, 26)
      .map((x, i, all) => ({ ...x, total: hits.length }));
  }
  /* ---------- frame ---------- */
  const NAV = [
    ['', 'Overview'],
    ['routes', 'Routes', R.length],
    ['gateways', 'Gateways', G.length],
    ['policies', 'Policies', P.length],
    ['clusters', 'Clusters', ALL],
    ['placements', 'Placements', D.placements.length],
    ...(D.change ? [['changes', 'Changes', D.change.effective.length]] : []),
    ...(W ? [['reported', 'Reported', W.problems.length]] : []),
    ...(D.findings.length ? [['findings', 'Findings', D.findings.length]] : []),
  ];
  const PARENT = {
    route: 'routes',
    gateway: 'gateways',
    policy: 'policies',
    cluster: 'clusters',
    compare: 'clusters',
    placement: 'placements',
  };
  const store = {
    get: k => {
      try {
        return localStorage.getItem('spokewright-' + k);
      } catch {
        return null;
      }
    },
    set: (k, v) => {
      try {
        localStorage.setItem('spokewright-' + k, v);
      } catch {
        /* file:// without storage */
      }
    },
  };
  let box,
    hits,
    keys = store.get('keys') !== 'off';
  function frame() {
    const top = $('top');
    box = h('input', {
      type: 'search',
      id: 'q',
      placeholder: 'Find, or paste an address',
      role: 'combobox',
      'aria-label': 'Find a route, address, policy or cluster',
      'aria-expanded': 'false',
      'aria-controls': 'hits',
      'aria-autocomplete': 'list',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    hits = h('div', { id: 'hits', role: 'listbox', 'aria-label': 'Results', hidden: true });
    const live = h('span', { class: 'sr', 'aria-live': 'polite' });
    let sel = 0,
      cur = [];
    const draw = () => {
      cur = search(box.value);
      sel = 0;
      hits.replaceChildren();
      hits.hidden = !box.value.trim();
      box.setAttribute('aria-expanded', String(!hits.hidden));
      let g = null;
      cur.forEach((x, i) => {
        if (x.type !== g) {
          g = x.type;
          hits.append(h('div', { class: 'g', role: 'presentation' }, g));
        }
        hits.append(
          h(
            'div',
            {
              role: 'option',
              id: 'hit-' + i,
              'aria-selected': String(i === 0),
              onmousedown: e => {
                e.preventDefault();
                go(i);
              },
            },
            x.label,
            h('span', { class: 's' }, x.sub),
          ),
        );
      });
      if (!cur.length && !hits.hidden) hits.append(h('div', { class: 'g' }, 'Nothing found'));
      live.textContent = hits.hidden ? '' : n(cur.length, 'result');
      box.setAttribute('aria-activedescendant', cur.length ? 'hit-0' : '');
    };
    const mark = i => {
      hits.querySelectorAll('[role=option]').forEach((e, j) => {
        e.setAttribute('aria-selected', String(i === j));
        if (i === j) e.scrollIntoView({ block: 'nearest' });
      });
      box.setAttribute('aria-activedescendant', 'hit-' + i);
    };
    const close = () => {
      hits.hidden = true;
      box.setAttribute('aria-expanded', 'false');
    };
    const go = i => {
      if (cur[i]) {
        location.hash = cur[i].href;
        box.value = '';
        close();
        box.blur();
      }
    };
    box.addEventListener('input', draw);
    box.addEventListener('blur', close);
    box.addEventListener('focus', () => {
      if (box.value) draw();
    });
    box.addEventListener('keydown', e => {
      if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
        e.preventDefault();
        if (cur.length) {
          sel = (sel + (e.key === 'ArrowDown' ? 1 : cur.length - 1)) % cur.length;
          mark(sel);
        }
      } else if (e.key === 'Enter') go(sel);
      else if (e.key === 'Escape') {
        box.value = '';
        close();
        box.blur();
      }
    });
    const theme = h(
      'button',
      {
        class: 'icon',
        type: 'button',
        title: 'Dark or light',
        'aria-label': 'Dark or light',
        onclick: () => {
          const dark = document.documentElement.dataset.theme
            ? document.documentElement.dataset.theme === 'dark'
            : matchMedia('(prefers-color-scheme: dark)').matches;
          document.documentElement.dataset.theme = dark ? 'light' : 'dark';
          store.set('theme', document.documentElement.dataset.theme);
        },
      },
      '\u25d0',
    );
    const th = store.get('theme');
    if (th === 'dark' || th === 'light') document.documentElement.dataset.theme = th;
    const help = h(
      'button',
      { class: 'icon', type: 'button', 'aria-label': 'Help', title: 'Help (?)', onclick: showHelp },
      '?',
    );
    const logo = h(
      'svg',
      {
        width: 20,
        height: 20,
        viewBox: '0 0 20 20',
        'aria-hidden': 'true',
        fill: 'none',
        stroke: 'currentColor',
        'stroke-width': 1.7,
      },
      h('circle', { cx: 10, cy: 10, r: 8.2 }),
      h('circle', { cx: 10, cy: 10, r: 2.2, fill: 'currentColor' }),
      h('path', { d: 'M10 7.8V1.8M11.9 11.1l5.2 3M8.1 11.1l-5.2 3' }),
    );
    top.replaceChildren(
      h(
        'a',
        {
          class: 'skip',
          href: '#',
          onclick: e => {
            e.preventDefault();
            $('main').focus();
          },
        },
        'Skip to the content',
      ),
      h('a', { class: 'brand', href: '#/', title: D.title }, logo, h('span', null, D.title)),
      h(
        'nav',
        { 'aria-label': 'Views' },
        NAV.map(([id, t, c]) =>
          h(
            'a',
            { href: '#/' + id, 'data-id': id },
            t,
            c !== undefined && h('span', { class: 'n' }, c.toLocaleString('en')),
          ),
        ),
      ),
      h(
        'div',
        { class: 'tools' },
        h('div', { class: 'search' }, box, h('kbd', { 'aria-hidden': 'true' }, '/'), hits, live),
        theme,
        help,
      ),
    );
    if (D.leftOut.length)
      $('main').before(
        h('p', { class: 'note', id: 'left-out' }, `Left out, to keep the page small: ${D.leftOut.join('; ')}.`),
      );
    document.body.append(
      h(
        'footer',
        null,
        W
          ? 'Made by spokewright from files and exported works. It loads nothing.'
          : 'Made by spokewright from files alone, without asking any cluster. It loads nothing.',
      ),
    );
  }
  const fit = () => {
    const v = document.querySelector('nav');
    v.classList.remove('tight');
    v.classList.toggle('tight', v.scrollWidth > v.clientWidth && innerWidth > 700);
  };
  function showHelp() {
    if (dlg) dlg.remove();
    const cb = h('input', {
      type: 'checkbox',
      id: 'keys',
      onchange: e => {
        keys = e.target.checked;
        store.set('keys', keys ? 'on' : 'off');
      },
    });
    cb.checked = keys;
    dlg = h(
      'dialog',
      { 'aria-label': 'Help' },
      h(
        'header',
        null,
        h('b', null, 'How to read this page'),
        h('button', { class: 'icon', type: 'button', 'aria-label': 'Close', onclick: () => dlg.close() }, '\u2715'),
      ),
      h(
        'div',
        { class: 'pad' },
        h(
          'p',
          null,
          'A policy applies to a path: GatewayClass, Gateway, listener, route, rule, backend. If several meet, ' +
            'the ones that are overridden are struck through, with the rule that decided.',
        ),
        h(
          'p',
          null,
          'Clusters, routes, and changes that are alike are one row. Violet marks objects that live on a cluster and ' +
            'change the outcome there. Red marks a gap. A policy that lets everybody in on purpose is not coverage.',
        ),
        h(
          'dl',
          { class: 'facts' },
          h('dt', null, h('kbd', null, '/')),
          h('dd', null, 'find'),
          h('dt', null, h('kbd', null, '?')),
          h('dd', null, 'this help'),
          h('dt', null, h('kbd', null, 'Esc')),
          h('dd', null, 'close'),
        ),
        h('p'),
        h('label', null, cb, ' single-key shortcuts'),
      ),
    );
    dlg.addEventListener('click', e => {
      if (e.target === dlg) dlg.close();
    });
    document.body.append(dlg);
    dlg.showModal();
  }
  addEventListener('keydown', e => {
    if (
      !keys ||
      e.ctrlKey ||
      e.metaKey ||
      e.altKey ||
      /INPUT|TEXTAREA|SELECT/.test(e.target.tagName) ||
      (dlg && dlg.open)
    )
      return;
    if (e.key === '/') {
      e.preventDefault();
      box.focus();
    } else if (e.key === '?') showHelp();
  });
  const scrolls = new Map();
  let shown = null;
  function render(stay) {
    const [path, qs] = (location.hash.replace(/^#\/?/, '') || '').split('?');
    let parts;
    try {
      parts = path.split('/').map(decodeURIComponent);
    } catch {
      parts = ['?'];
    }
    const id = parts[0] || 'overview',
      view = Object.hasOwn(V, id) ? V[id] : () => missing('view', id);
    pending.clear();
    if (dlg && dlg.open) dlg.close();
    const t = performance.now(),
      main = $('main'),
      f = frag(view(new URLSearchParams(qs || ''), ...parts.slice(1)));
    main.replaceChildren(f);
    document.querySelectorAll('nav a').forEach(x => {
      const on = x.dataset.id === (PARENT[id] || (id === 'overview' ? '' : id));
      on ? x.setAttribute('aria-current', 'page') : x.removeAttribute('aria-current');
      if (on) {
        const nv = x.parentNode;
        nv.scrollLeft = x.offsetLeft - nv.offsetLeft - (nv.clientWidth - x.clientWidth) / 2;
      }
    });
    const h1 = main.querySelector('h1');
    const heading = h1 ? h1.textContent : '';
    const rest = heading === plain(D.title) ? 'spokewright' : plain(D.title);
    document.title = heading ? heading + ' \u00b7 ' + rest : rest;
    if (!stay) {
      scrollTo(0, scrolls.get(location.hash) || 0);
      if (shown !== null && h1) h1.focus({ preventScroll: true });
    }
    shown = location.hash;
    performance.measure('view ' + id, { start: t, end: performance.now() });
  }
  addEventListener(
    'scroll',
    () => {
      if (shown === location.hash) scrolls.set(shown, scrollY);
    },
    { passive: true },
  );
  addEventListener('hashchange', () => {
    const keep = shown && location.hash.split('?')[0] === shown.split('?')[0];
    if (keep) {
      const y = scrollY,
        act = document.activeElement && document.activeElement.textContent;
      render(true);
      scrollTo(0, y);
      const same = act && [...document.querySelectorAll('main a[aria-current]')].find(x => x.textContent === act);
      if (same) same.focus({ preventScroll: true });
    } else render();
  });
  frame();
  render();
  fit();
  addEventListener('resize', fit);
  performance.measure('start', { start: t0, end: performance.now() });
})();
