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

const FOLDER = 'deploy/kubernetes';
const NAMESPACE = 'kubernetes.io/metadata.name';
const root = join(import.meta.dirname, '../..');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** The part of Kubernetes' API in these files: keys by the key above them. Its server drops a misspelt key silently. */
const KEYS: Record<string, string> = {
  '': 'apiVersion kind metadata spec namespace labels resources configMapGenerator images',
  metadata: 'annotations name labels',
  spec: `replicas revisionHistoryLimit strategy selector template automountServiceAccountToken enableServiceLinks
    terminationGracePeriodSeconds topologySpreadConstraints securityContext containers volumes ports ingressClassName
    tls rules podSelector policyTypes ingress egress minAvailable unhealthyPodEvictionPolicy jobLabel endpoints`,
  strategy: 'type rollingUpdate',
  rollingUpdate: 'maxUnavailable maxSurge',
  selector: 'matchLabels app.kubernetes.io/name',
  template: 'metadata spec',
  topologySpreadConstraints: 'maxSkew topologyKey whenUnsatisfiable labelSelector',
  labelSelector: 'matchLabels',
  securityContext: `runAsNonRoot runAsUser runAsGroup seccompProfile allowPrivilegeEscalation readOnlyRootFilesystem
    capabilities`,
  seccompProfile: 'type',
  capabilities: 'drop',
  containers: `name image ports envFrom env startupProbe livenessProbe readinessProbe lifecycle resources
    securityContext volumeMounts`,
  ports: 'name containerPort protocol port targetPort',
  envFrom: 'configMapRef secretRef',
  configMapRef: 'name',
  secretRef: 'name',
  env: 'name value',
  startupProbe: 'httpGet periodSeconds failureThreshold',
  livenessProbe: 'httpGet periodSeconds timeoutSeconds failureThreshold',
  readinessProbe: 'httpGet periodSeconds timeoutSeconds failureThreshold',
  httpGet: 'path port',
  lifecycle: 'preStop',
  preStop: 'sleep',
  sleep: 'seconds',
  resources: 'requests limits',
  requests: 'cpu memory',
  limits: 'memory',
  volumeMounts: 'name mountPath',
  volumes: 'name emptyDir',
  emptyDir: 'sizeLimit',
  tls: 'hosts secretName',
  rules: 'host http',
  http: 'paths',
  paths: 'path pathType backend',
  backend: 'service',
  service: 'name port',
  port: 'name',
  podSelector: 'matchLabels',
  ingress: 'from ports',
  egress: 'to ports',
  from: 'namespaceSelector',
  to: 'namespaceSelector ipBlock',
  namespaceSelector: 'matchLabels',
  ipBlock: 'cidr except',
  endpoints: 'port path interval scrapeTimeout',
  configMapGenerator: 'name envs',
  images: 'name newName newTag',
};
/** Their keys are the operator's own. */
const LABELS = ['labels', 'matchLabels', 'annotations'];

function unknownKeys(value: unknown, parent = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => unknownKeys(item, parent));
  if (typeof value !== 'object' || value === null || LABELS.includes(parent)) return [];
  const known = (KEYS[parent] ?? '').split(/\s+/);
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(known.includes(key) ? [] : [`${parent}.${key}`]),
    ...unknownKeys(inner, key),
  ]);
}

// biome-ignore lint/suspicious/noExplicitAny: their keys are compared with those of Kubernetes
type Any = any;
const file = (name: string): Any => readYaml(`${FOLDER}/${name}.yaml`);
const kustomization = file('kustomization');
const deployment = file('deployment');
const service = file('service');
const ingress = file('ingress');
const policy = file('network-policy');
const budget = file('pod-disruption-budget');
const monitor = file('service-monitor');

const { spec: pod, metadata } = deployment.spec.template;
const [container] = pod.containers;
const variable = (wanted: string) => container.env.find(({ name }: Any) => name === wanted)?.value;
const backends: Any[] = ingress.spec.rules[0].http.paths.map(({ backend }: Any) => backend.service);

describe('deploy/kubernetes', () => {
  it('applies every file of the folder', () => {
    const files = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith('.yaml'));
    expect([...kustomization.resources, 'kustomization.yaml'].toSorted()).toEqual(files.toSorted());
  });

  it('has no key that Kubernetes does not know, and only amounts that it can read', () => {
    const all = [kustomization, deployment, service, ingress, policy, budget, monitor];
    expect(unknownKeys(all)).toEqual([]);
    const { requests, limits } = container.resources;
    for (const amount of [requests.cpu, requests.memory, limits.memory, pod.volumes[0].emptyDir.sizeLimit])
      expect(amount).toMatch(/^\d+(m|Mi|Gi)$/);
  });

  it('sets variables that Deckhand reads, to values that it takes, and no secret among them', () => {
    const env = {
      ...readVariables(`${FOLDER}/config.env`),
      ...readVariables(`${FOLDER}/secret.example.env`),
      ...Object.fromEntries(container.env.map(({ name, value }: Any) => [name, value])),
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
    const ports = container.ports.map(({ name }: Any) => name);
    expect(container.ports.map(({ name, containerPort }: Any) => [name, String(containerPort)])).toEqual([
      ['http', variable('PORT')],
      ['metrics', variable('METRICS_PORT')],
    ]);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    for (const named of [
      ...probes.map((one) => one.httpGet.port),
      ...service.spec.ports.map(({ targetPort }: Any) => targetPort),
      ...policy.spec.ingress.flatMap((rule: Any) => rule.ports.map((one: Any) => one.port)),
    ])
      expect(ports).toContain(named);
    const servicePorts = service.spec.ports.map(({ name }: Any) => name);
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
    expect(budget.spec.unhealthyPodEvictionPolicy).toBe('AlwaysAllow');
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
    expect(container.volumeMounts.map(({ name }: Any) => name)).toEqual(
      pod.volumes.map(({ name }: Any) => name),
    );
  });

  it('shows the public pages and routes to the world, and no other', () => {
    const { paths } = ingress.spec.rules[0].http;
    const isPublic = (path: string) =>
      paths.some((one: Any) =>
        one.pathType === 'Exact' ? one.path === path : `${path}/`.startsWith(`${one.path}/`),
      );
    expect(PUBLIC_PATHS.filter((path) => !isPublic(path))).toEqual([]);
    expect(INTERNAL_PATHS.filter(isPublic)).toEqual([]);
    expect(ingress.spec.tls[0]?.hosts).toEqual([ingress.spec.rules[0].host]);
    expect(readVariables(`${FOLDER}/config.env`).PUBLIC_URL).toBe(`https://${ingress.spec.rules[0].host}`);
  });

  it('keeps the codes and tokens of addresses out of the access log', () => {
    const { annotations } = ingress.metadata;
    expect(annotations['nginx.ingress.kubernetes.io/enable-access-log']).toBe('false');
  });

  it('lets traffic out to name servers, https, Postgres, proxies and collectors, and to no metadata address', () => {
    expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    const ports = policy.spec.egress.flatMap((rule: Any) => rule.ports.map(({ port }: Any) => port));
    expect(ports).toEqual([53, 53, 53, 53, 443, 5432, 3128, 4317, 4318]);
    const peers: Any[] = policy.spec.egress.flatMap(({ to }: Any) => to);
    expect(peers.map(({ ipBlock }) => ipBlock?.cidr)).toEqual(
      expect.arrayContaining(['169.254.20.10/32', '::/0']),
    );
    for (const { ipBlock } of peers) {
      if (ipBlock?.cidr === '0.0.0.0/0') expect(ipBlock.except).toContain('169.254.0.0/16');
      if (ipBlock?.cidr.includes(':')) expect(ipBlock.except).toContain('fd00:ec2::254/128');
    }
  });

  it('lets only the ingress in to the public port, and only the monitor to the metrics, as the job that alerts expect', () => {
    const visitors = policy.spec.ingress.map(({ from, ports }: Any) => ({
      from: from.map((one: Any) => one.namespaceSelector?.matchLabels[NAMESPACE]),
      to: ports.map(({ port }: Any) => port),
    }));
    expect(visitors).toEqual([
      { from: ['ingress-nginx'], to: ['http'] },
      { from: ['monitoring'], to: ['metrics'] },
    ]);
    expect(monitor.spec.endpoints[0]).toMatchObject({ port: 'metrics', path: '/metrics' });
    const job = service.metadata.labels[monitor.spec.jobLabel];
    expect(JSON.stringify(parse(readText('docs/alerts.yml')))).toContain(`up{job=\\"${job}\\"}`);
    expect(new Set(backends.map(({ port }) => port.name))).toEqual(new Set(['http']));
  });

  it('runs the release that this is', () => {
    const [{ name, newTag }] = kustomization.images;
    expect(name).toBe(container.image);
    expect(newTag).toBe(JSON.parse(readText('package.json')).version);
  });

  it.skipIf(!hasKubectl)('is put together by kubectl', () => {
    const made = spawnSync('kubectl', ['kustomize', FOLDER], { cwd: root, encoding: 'utf8' });
    expect([made.status, made.stderr]).toEqual([0, '']);
    const objects = parseAllDocuments(made.stdout).map((document) => document.toJS());
    expect(objects).toHaveLength(kustomization.resources.length + 1);
    const namespaces = new Set(objects.map(({ metadata: { namespace } }) => namespace));
    expect([...namespaces]).toEqual([kustomization.namespace]);
    const config = objects.find(({ kind }) => kind === 'ConfigMap');
    const [rendered] = objects.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers;
    expect(rendered.envFrom[0].configMapRef.name).toBe(config.metadata.name);
    expect(rendered.image).toBe(`${kustomization.images[0].newName}:${kustomization.images[0].newTag}`);
  });
});
