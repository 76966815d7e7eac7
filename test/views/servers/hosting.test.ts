import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkView } from '../../../sandbox/slack/block-kit/view.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { HostedResource } from '../../../src/service/hosted-resources.ts';
import type { BuildConfiguration, Server } from '../../../src/service/servers.ts';
import type { Values } from '../../../src/views/blocks/modal.ts';
import { askedToEnrollMessage, handOverMessage, handOverOf } from '../../../src/views/servers/beta.ts';
import {
  confirmServerModal,
  enrollFirstModal,
  readServerForm,
  serverFormModal,
  unknownOutcomeWords,
  valuesOf,
} from '../../../src/views/servers/form.ts';
import {
  chooseResourceMessage,
  hostingMessage,
  regionsMessage,
  resourceMessage,
  sizesMessage,
} from '../../../src/views/servers/hosting.ts';
import { provisioningMessage, statusNews } from '../../../src/views/servers/provisioning.ts';
import {
  buildMessage,
  hostKeyWords,
  serverMessage,
  shortRevision,
  statusWords,
} from '../../../src/views/servers/server.ts';
import { expectAccepted } from '../../support/accepted.ts';
import { webUrl } from '../../support/arbitraries.ts';
import { byLength } from '../../support/length.ts';

/** Whatever a service may say: long, empty, turned around, half a link, every Slack token. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc.constantFrom(
    '',
    ' ',
    'x'.repeat(10_000),
    '👩‍👩‍👧‍👦'.repeat(2_000),
    '&<>'.repeat(3_000),
    '`*_~'.repeat(500),
    '\u202eevil\u0000',
    '<!channel> <https://evil.example.com|https://ok.example.com>',
    'שלום '.repeat(100),
  ),
);
const maybe = fc.option(text);
const identifier = text.filter((value) => value !== '');

const status = fc.oneof(
  fc.constantFrom('provisioning', 'active', 'suspended', 'disabled', 'error', 'destroying', 'toString'),
  text,
);
const server: fc.Arbitrary<Server> = fc.record({
  identifier,
  name: identifier,
  protocol_type: text,
  server_path: maybe,
  last_revision: maybe,
  preferred_branch: maybe,
  notify_email: fc.boolean(),
  server_group_identifier: maybe,
  hostname: maybe,
  port: fc.option(identifier),
  username: maybe,
  use_ssh_keys: fc.boolean(),
  host_key: maybe,
  static_hosting: fc.option(
    fc.record({
      hosted_website_identifier: maybe,
      subdomain: text,
      url: fc.option(fc.oneof(text, webUrl())),
      spa_mode: fc.boolean(),
      status,
      active_deployment_uuid: maybe,
    }),
  ),
  managed_vps: fc.option(
    fc.record({ hosted_resource_identifier: maybe, status, ip_address: maybe, region: text, size: text }),
  ),
});

const amount = fc.option(fc.oneof(fc.double({ noNaN: true }), fc.integer()));
const resource: fc.Arbitrary<HostedResource> = fc.record({
  identifier,
  name: text,
  kind: maybe,
  region: maybe,
  size: maybe,
  status,
  ip_address: maybe,
  monthly_cost: amount,
  ssh_key: fc.option(
    fc.record({ identifier: text, title: text, public_key: text, key_type: text, fingerprint: text }),
  ),
  created_at: fc.option(fc.constant('2026-03-02T09:00:00Z')),
  updated_at: fc.option(fc.constant('2026-03-02T09:00:00Z')),
});
const currency = fc.option(fc.oneof(fc.constantFrom('usd', 'eur', 'jpy'), text), { nil: undefined });
const target = fc.record({
  account: fc.constant('acme'),
  project: fc.record({ permalink: text, name: text }),
  server: fc.record({ identifier, name: text }),
  cost: fc.option(text, { nil: undefined }),
});

describe('what is shown of servers and hosting', () => {
  it('is accepted by Slack whatever the service says of a server', () => {
    fc.assert(
      fc.property(server, target, (one, of) => {
        expectAccepted(serverMessage(one, of));
        const view = { target: of, askedBy: 'U0ANN', startedAt: 0, now: 90_000 };
        for (const state of [
          { kind: 'running', server: one, trouble: 'busy' },
          { kind: 'running' },
          { kind: 'ended', server: one },
          { kind: 'lost', server: one },
          { kind: 'stopped', reason: 'No.' },
        ] as const)
          expectAccepted(provisioningMessage({ ...view, state }));
        for (const { message } of statusNews(one)) expectAccepted(message);
      }),
      { numRuns: byLength(8, 100) },
    );
  });

  it('is accepted by Slack whatever the service says of its resources', () => {
    fc.assert(
      fc.property(fc.array(resource, { maxLength: 130 }), currency, text, (all, inCurrency, account) => {
        expectAccepted(hostingMessage(account, all, inCurrency, '/deckhand'));
        expectAccepted(chooseResourceMessage(account, all, 'hosting show'));
        const [one] = all;
        if (one === undefined) return;
        expectAccepted(
          resourceMessage({ account, resource: one, currency: inCurrency, maySync: true, news: 'New.' }),
        );
      }),
      { numRuns: byLength(5, 50) },
    );
  });

  it('is accepted by Slack whatever there is to choose from', () => {
    const regions = fc.array(fc.record({ slug: text, name: text, available: fc.boolean() }), {
      maxLength: 150,
    });
    const sizes = fc.array(fc.record({ slug: text, label: text, monthly_cost: amount, currency: text }), {
      maxLength: 150,
    });
    const draft = { channel: 'C0', account: 'acme', protocol: 'managed_vps' } as const;
    fc.assert(
      fc.property(regions, sizes, (some, others) => {
        expectAccepted(regionsMessage('acme', some));
        expectAccepted(sizesMessage('acme', others));
        const offer = { regions: some, sizes: others };
        expect(
          checkView(serverFormModal({ draft, values: {}, offer, sitesDomain: undefined }), 'modal'),
        ).toEqual([]);
      }),
      { numRuns: byLength(5, 50) },
    );
  });

  it('is accepted by Slack whatever a build configuration holds', () => {
    const configuration: fc.Arbitrary<BuildConfiguration> = fc.record({
      identifier,
      packages: fc.dictionary(text, text, { maxKeys: 150 }),
      default: fc.boolean(),
      servers: fc.array(server, { maxLength: 60 }),
    });
    fc.assert(
      fc.property(configuration, text, text, (one, permalink, name) => {
        expectAccepted(buildMessage('acme', { permalink, name }, one));
      }),
      { numRuns: byLength(5, 50) },
    );
  });

  it('is accepted by Slack whatever was typed into the form', () => {
    const values = fc.record(
      {
        name: text,
        subdomain: text,
        region: text,
        size: text,
        spa_mode: fc.constant(['true']) as fc.Arbitrary<string | string[]>,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        values,
        fc.constantFrom('static_hosting' as const, 'managed_vps' as const),
        (typed, kind) => {
          const draft = { channel: 'C0', account: 'acme', protocol: kind };
          const form = { draft, offer: { regions: [], sizes: [] }, sitesDomain: 'sites.example.net' };
          const typable: Values = Object.fromEntries(
            Object.entries(typed).map(([field, value]) => [
              field,
              typeof value === 'string' ? value.slice(0, field === 'name' ? 255 : 63) : value,
            ]),
          );
          expect(checkView(serverFormModal({ ...form, values: typable }), 'modal')).toEqual([]);
          const { wanted } = readServerForm(typable, kind);
          if (wanted === undefined) return;
          const project = { permalink: 'shop', name: 'Shop' };
          expect(
            checkView(confirmServerModal({ ...draft, project, wanted }, 'sites.example.net'), 'modal'),
          ).toEqual([]);
          expect(readServerForm(valuesOf(wanted), kind).wanted).toEqual(wanted);
          expect(unknownOutcomeWords({ wanted, project }, 'no answer', '/deckhand')).not.toContain('<!');
        },
      ),
      { numRuns: byLength(20, 200) },
    );
  });

  it('is accepted by Slack wherever the beta page is', () => {
    const account = fc.stringMatching(/^[a-z][a-z0-9-]{0,60}$/);
    fc.assert(
      fc.property(account, fc.option(fc.oneof(webUrl(), text), { nil: undefined }), (name, url) => {
        const refused = new ServiceError('admin_required', 'enrollInBeta', { betaUrl: url });
        expectAccepted(handOverMessage(name, refused));
        expectAccepted(askedToEnrollMessage(name, url, 'U0ANN', '/deckhand'));
        const draft = { channel: 'C0', account: name, protocol: 'static_hosting' } as const;
        expect(checkView(enrollFirstModal(draft, false), 'modal')).toEqual([]);
        const [, actions] = handOverMessage(name, refused).blocks;
        expect(handOverOf(actions?.block_id ?? '')?.account).toBe(name);
      }),
    );
  });
});

describe('small words', () => {
  it.each([
    ['active', '*active*: running and ready for deployments'],
    ['re-wiring', '`re-wiring`'],
    ['toString', '`toString`'],
    ['<!here>', '`&lt;!here&gt;`'],
  ])('status %s', (given, said) => {
    expect(statusWords(given)).toBe(said);
  });

  it.each([
    ['0123456789abcdef', '`0123456`'],
    ['abc', '`abc`'],
    ['', 'never deployed'],
    [null, 'never deployed'],
  ])('revision %j', (given, said) => {
    expect(shortRevision(given)).toBe(said);
  });

  it.each([
    [`ssh-ed25519 ${'A'.repeat(50)}abcdefghijkl box@acme`, '`ssh-ed25519 …abcdefghijkl`'],
    [
      `web-1.example.com ecdsa-sha2-nistp256 ${'B'.repeat(80)}zyxwvutsrqpo`,
      '`ecdsa-sha2-nistp256 …zyxwvutsrqpo`',
    ],
    ['C'.repeat(60), `\`…${'C'.repeat(12)}\``],
    ['SHA256:short', '`SHA256:short`'],
  ])('host key %s', (given, said) => {
    expect(hostKeyWords(given)).toBe(said);
  });
});
