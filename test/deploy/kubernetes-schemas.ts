import { z } from 'zod';

/**
 * The part of Kubernetes' API that deploy/kubernetes uses. Strict, unlike the API server, which drops a misspelt
 * key without a word.
 */
const labels = z.record(z.string(), z.string());
const selector = z.strictObject({ matchLabels: labels });
const metadata = z.strictObject({ name: z.string().regex(/^[a-z0-9-]{1,63}$/), labels });
const port = z.union([z.int().min(1).max(65_535), z.string()]);
const protocol = z.enum(['TCP', 'UDP']);
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/);

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith('/'), port: z.string() }),
  periodSeconds: z.int().positive(),
  timeoutSeconds: z.int().positive().optional(),
  failureThreshold: z.int().positive(),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int(), protocol })),
  envFrom: z.array(
    z.union([
      z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) }),
      z.strictObject({ secretRef: z.strictObject({ name: z.string() }) }),
    ]),
  ),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  lifecycle: z.strictObject({
    preStop: z.strictObject({ sleep: z.strictObject({ seconds: z.int().positive() }) }),
  }),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: quantity, memory: quantity }),
    limits: z.strictObject({ memory: quantity }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.strictObject({ drop: z.array(z.string()) }),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/') })),
});

export const Deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.int(),
    revisionHistoryLimit: z.int(),
    strategy: z.strictObject({
      type: z.literal('RollingUpdate'),
      rollingUpdate: z.strictObject({ maxUnavailable: z.int(), maxSurge: z.int() }),
    }),
    selector,
    template: z.strictObject({
      metadata: z.strictObject({ labels }),
      spec: z.strictObject({
        automountServiceAccountToken: z.boolean(),
        enableServiceLinks: z.boolean(),
        terminationGracePeriodSeconds: z.int(),
        topologySpreadConstraints: z.array(
          z.strictObject({
            maxSkew: z.int(),
            topologyKey: z.string(),
            whenUnsatisfiable: z.enum(['DoNotSchedule', 'ScheduleAnyway']),
            labelSelector: selector,
          }),
        ),
        securityContext: z.strictObject({
          runAsNonRoot: z.boolean(),
          runAsUser: z.int(),
          runAsGroup: z.int(),
          seccompProfile: z.strictObject({ type: z.enum(['RuntimeDefault', 'Unconfined']) }),
        }),
        containers: z.tuple([container]),
        volumes: z.array(
          z.strictObject({ name: z.string(), emptyDir: z.strictObject({ sizeLimit: quantity }) }),
        ),
      }),
    }),
  }),
});

export const Service = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata,
  spec: z.strictObject({
    selector: labels,
    ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: port, protocol })),
  }),
});

export const Ingress = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('Ingress'),
  metadata,
  spec: z.strictObject({
    ingressClassName: z.string(),
    tls: z.array(z.strictObject({ hosts: z.array(z.string()), secretName: z.string() })),
    rules: z.tuple([
      z.strictObject({
        host: z.string(),
        http: z.strictObject({
          paths: z.array(
            z.strictObject({
              path: z.string().startsWith('/'),
              pathType: z.enum(['Exact', 'Prefix']),
              backend: z.strictObject({
                service: z.strictObject({ name: z.string(), port: z.strictObject({ name: z.string() }) }),
              }),
            }),
          ),
        }),
      }),
    ]),
  }),
});

const peer = z.union([
  z.strictObject({ namespaceSelector: selector }),
  z.strictObject({ ipBlock: z.strictObject({ cidr: z.cidrv4(), except: z.array(z.cidrv4()).optional() }) }),
]);
const policyPorts = z.array(z.strictObject({ port, protocol })).min(1);

export const NetworkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata,
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.strictObject({ from: z.array(peer).min(1), ports: policyPorts })),
    egress: z.array(z.strictObject({ to: z.array(peer).min(1), ports: policyPorts })),
  }),
});

export const PodDisruptionBudget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ minAvailable: z.int().positive(), selector }),
});

export const ServiceMonitor = z.strictObject({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('ServiceMonitor'),
  metadata,
  spec: z.strictObject({
    jobLabel: z.string(),
    selector,
    endpoints: z.tuple([
      z.strictObject({ port: z.string(), path: z.string(), interval: z.string(), scrapeTimeout: z.string() }),
    ]),
  }),
});

export const Kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string(),
  labels: z.array(z.strictObject({ pairs: labels })),
  resources: z.array(z.string()),
  configMapGenerator: z.tuple([z.strictObject({ name: z.string(), envs: z.tuple([z.string()]) })]),
  images: z.tuple([z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })]),
});
