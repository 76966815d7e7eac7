import { describe, expect, it } from 'vitest';
import { appFromManifest } from '../../slack/registered-app.ts';

const MANIFEST = {
  _metadata: { major_version: 2 },
  display_information: { name: 'Deckhand', long_description: 'let through' },
  features: {
    bot_user: { display_name: 'Deckhand', always_online: true },
    app_home: {
      home_tab_enabled: true,
      messages_tab_enabled: false,
      messages_tab_read_only_enabled: true,
    },
    slash_commands: [{ command: '/ship', description: 'Ships', usage_hint: 'help', should_escape: true }],
    shortcuts: [{ name: 'Run', type: 'global', callback_id: 'run', description: 'Runs' }],
    unfurl_domains: ['service.example'],
  },
  oauth_config: { redirect_urls: ['https://deckhand.example'], scopes: { bot: ['commands', 'chat:write'] } },
  functions: {
    run_test: {
      title: 'Run test',
      description: 'x',
      input_parameters: { project: { type: 'string' } },
      output_parameters: { status: { type: 'string' } },
    },
  },
  settings: {
    event_subscriptions: { request_url: 'https://deckhand.example', bot_events: ['app_uninstalled'] },
    org_deploy_enabled: true,
    token_rotation_enabled: true,
  },
};

describe('an app from its manifest', () => {
  it('has what its makers registered', () => {
    expect(appFromManifest(MANIFEST)).toMatchObject({
      name: 'Deckhand',
      botName: 'deckhand',
      botScopes: ['commands', 'chat:write'],
      commands: [{ command: '/ship', should_escape: true }],
      shortcuts: [{ callback_id: 'run', type: 'global' }],
      events: ['app_uninstalled'],
      unfurlDomains: ['service.example'],
      functions: [{ callback_id: 'run_test', input_parameters: ['project'], output_parameters: ['status'] }],
      redirectUrls: ['https://deckhand.example'],
      homeTab: true,
      messagesTab: false,
      messagesTabReadOnly: true,
      orgDeploy: true,
      tokenRotation: true,
      socketMode: false,
    });
  });

  it('is refused where it is none', () => {
    expect(() => appFromManifest({ features: {} })).toThrow('display_information');
  });
});
