// Writes what a stranger might into a copy of the example's hub: `node hostile.mjs HUB`.
import fs from 'node:fs';
import path from 'node:path';

const hub = process.argv[2];
const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<!-- <img src=x onerror=alert(1)>',
  '\u202egnp.exe \u200b\u2066 \u2028 \u2029',
  '__proto__ constructor toString',
  'javascript:alert(1)',
  '"\'`${alert(1)} {{DATA}} <!--data-->',
  'a'.repeat(300),
].join(' ');
const edit = (file, from, to) => {
  const text = fs.readFileSync(path.join(hub, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${from} is not in ${file}`);
  fs.writeFileSync(path.join(hub, file), text.replace(from, () => to));
};
// YAML, other than JSON, has these escaped only.
const quote = text => JSON.stringify(text).replace(/[\u2028\u2029]/g, end => `\\u${end.charCodeAt(0).toString(16)}`);
const quoted = quote(HOSTILE);
edit('shop/limits.yaml', '  name: per-client\n', `  name: per-client\n  annotations: {note: ${quoted}}\n`);
edit('shop/routes.yaml', 'value: /catalogue', `value: ${quote('/' + HOSTILE)}`);
edit('clusters/clusters.yaml', 'region: eu\n', `region: eu\n    note: ${JSON.stringify(HOSTILE.slice(0, 60))}\n`);
fs.writeFileSync(
  path.join(hub, 'rules.yaml'),
  ['constructor', 'prototype']
    .map(
      name => `apiVersion: spokewright.dev/v1alpha1
kind: FleetRule
metadata: {name: ${name}}
spec: {assert: "path.${name} == 1", message: ${quoted}}
`,
    )
    .join('---\n'),
);
fs.writeFileSync(
  path.join(hub, 'shop', 'hostile.yaml'),
  `# ${'</script>'}<!-- javascript:alert(1)
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: constructor, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: storefront, sectionName: web}
  limits:
    __proto__: {rates: [{limit: 1, window: 1s}], when: [{predicate: ${quoted}}]}
    toString: {rates: [{limit: 2, window: 1s}]}
`,
);
