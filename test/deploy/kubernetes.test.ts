import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import {
  INTERNAL_PATHS,
  PUBLIC_PATHS,
  readText,
  readVariables,
  readYaml,
  startFaults,
  unknownVariables,
} from '../support/deployment-files.ts';
import {
  Deployment,
  Ingress,
  Kustomization,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  ServiceMonitor,
} from './kubernetes-schemas.ts';

const FOLDER = 'deploy/kubernetes';
const NAMESPACE = 'kubernetes.io/metadata.name';
const root = join(import.meta.dirname, '../..');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const file = (name: string): unknown => readYaml(`${FOLDER}/${name}.yaml`);

const kustomization = Kustomization.parse(file('kustomization'));
const deployment = Deployment.parse(file('deployment'));
const service = Service.parse(file('service'));
const ingress = Ingress.parse(file('ingress'));
const policy = NetworkPolicy.parse(file('network-policy'));
const budget = PodDisruptionBudget.parse(file('pod-disruption-budget'));
const monitor = ServiceMonitor.parse(file('service-monitor'));

const { spec: pod, metadata } = deployment.spec.template;
const [container] = pod.containers;
const variable = (wanted: string) => container.env.find(({ name }) => name === wanted)?.value;

describe('deploy/kubernetes', () => {
  it('applies every file of the folder', () => {
    const files = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith('.yaml'));
    expect([...kustomization.resources, 'kustomization.yaml'].toSorted()).toEqual(files.toSorted());
  });

  it('sets variables that Deckhand reads, to values that it takes, and no secret among them', () => {
    const env = {
      ...readVariables(`${FOLDER}/config.env`),
      ...readVariables(`${FOLDER}/secret.example.env`),
      ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
    };
    expect(unknownVariables(Object.keys(env))).toEqual([]);
    expect(startFaults(env)).toEqual([]);
    expect(env.STORE_URL).toMatch(/^postgres:/);
    const [{ name, envs }] = kustomization.configMapGenerator;
    expect(container.envFrom).toEqual([{ configMapRef: { name } }, { secretRef: { name: 'deckhand' } }]);
    const configured = Object.keys(readVariables(`${FOLDER}/${envs[0]}`));
    expect(configured.filter((one) => /SECRET|TOKEN|KEY|STORE_URL/.test(one))).toEqual([]);
  });

  it('selects the same pods everywhere', () => {
    const { matchLabels } = deployment.spec.selector;
    expect(metadata.labels).toMatchObject(matchLabels);
    for (const selected of [
      service.spec.selector,
      policy.spec.podSelector.matchLabels,
      budget.spec.selector.matchLabels,
      pod.topologySpreadConstraints[0]?.labelSelector.matchLabels,
    ])
      expect(selected).toEqual(matchLabels);
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
  });

  it('names ports that there are', () => {
    const ports = container.ports.map(({ name }) => name);
    expect(container.ports.map(({ name, containerPort }) => [name, String(containerPort)])).toEqual([
      ['http', variable('PORT')],
      ['metrics', variable('METRICS_PORT')],
    ]);
    for (const named of [
      ...[container.startupProbe, container.livenessProbe, container.readinessProbe].map(
        (one) => one.httpGet.port,
      ),
      ...service.spec.ports.map(({ targetPort }) => targetPort),
      ...policy.spec.ingress.flatMap((rule) => rule.ports.map((one) => one.port)),
    ])
      expect(ports).toContain(named);
    const servicePorts = service.spec.ports.map(({ name }) => name);
    const backends = ingress.spec.rules[0].http.paths.map(({ backend }) => backend.service);
    for (const named of [...backends.map(({ port }) => port.name), monitor.spec.endpoints[0].port])
      expect(servicePorts).toContain(named);
    expect(new Set(backends.map(({ name }) => name))).toEqual(new Set([service.metadata.name]));
  });

  it('keeps one of two replicas at every time, sends requests to what is ready, and lets each end its work', () => {
    expect(container.startupProbe.httpGet.path).toBe('/healthz');
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(deployment.spec.replicas).toBe(2);
    expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    expect(budget.spec.minAvailable).toBeLessThan(deployment.spec.replicas);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(25 + container.lifecycle.preStop.sleep.seconds);
  });

  it('runs without root, rights, token or a writable system', () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
  });

  it('shows the public pages and routes to the world, and no other', () => {
    const { paths } = ingress.spec.rules[0].http;
    const isPublic = (path: string) =>
      paths.some((one) =>
        one.pathType === 'Exact' ? one.path === path : `${path}/`.startsWith(`${one.path}/`),
      );
    expect(PUBLIC_PATHS.filter((path) => !isPublic(path))).toEqual([]);
    expect(INTERNAL_PATHS.filter(isPublic)).toEqual([]);
    expect(ingress.spec.tls[0]?.hosts).toEqual([ingress.spec.rules[0].host]);
    expect(readVariables(`${FOLDER}/config.env`).PUBLIC_URL).toBe(`https://${ingress.spec.rules[0].host}`);
  });

  it('lets traffic out to name servers, https and Postgres, and to no metadata address', () => {
    expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(policy.spec.egress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([
      53, 53, 443, 5432,
    ]);
    for (const peer of policy.spec.egress.flatMap(({ to }) => to))
      if ('ipBlock' in peer && peer.ipBlock.cidr === '0.0.0.0/0')
        expect(peer.ipBlock.except).toContain('169.254.0.0/16');
  });

  it('lets only the ingress in to the public port, and only the monitor to the metrics, as the job that alerts expect', () => {
    const visitors = policy.spec.ingress.map(({ from, ports }) => ({
      from: from.map((one) => 'namespaceSelector' in one && one.namespaceSelector.matchLabels[NAMESPACE]),
      to: ports.map(({ port }) => port),
    }));
    expect(visitors).toEqual([
      { from: ['ingress-nginx'], to: ['http'] },
      { from: ['monitoring'], to: ['metrics'] },
    ]);
    expect(monitor.spec.endpoints[0]).toMatchObject({ port: 'metrics', path: '/metrics' });
    const job = service.metadata.labels[monitor.spec.jobLabel];
    const alerts = JSON.stringify(parse(readText('docs/alerts.yml')));
    expect(alerts).toContain(`up{job=\\"${job}\\"}`);
    const backends = ingress.spec.rules[0].http.paths.map(({ backend }) => backend.service.port.name);
    expect(new Set(backends)).toEqual(new Set(['http']));
  });

  it('runs the release that this is', () => {
    const [{ name, newTag }] = kustomization.images;
    expect(name).toBe(container.image);
    expect(newTag).toBe(JSON.parse(readText('package.json')).version);
  });

  it.skipIf(!hasKubectl)('is put together by kubectl (skipped where kubectl is absent)', () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', FOLDER], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS());
    expect(objects.map(({ kind }) => kind)).toHaveLength(kustomization.resources.length + 1);
    expect(new Set(objects.map((object) => object.metadata.namespace))).toEqual(
      new Set([kustomization.namespace]),
    );
    const config = objects.find(({ kind }) => kind === 'ConfigMap');
    const [rendered] = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers;
    expect(rendered.envFrom[0].configMapRef.name).toBe(config.metadata.name);
    expect(rendered.image).toBe(`${kustomization.images[0].newName}:${kustomization.images[0].newTag}`);
  });
});
