import type { Mutation } from './mutation.ts';

const SIGNED_BODY = 'src/listeners/receivers/signed-body.ts';
const INBOX = 'src/listeners/inbox.ts';
const LINK = 'src/workspace/link-requests.ts';
const LINK_INBOX = 'src/workspace/link-requests.ts';
const INSTALL_STATES = 'src/workspace/install-states.ts';
const FRONT_DOOR = 'test/listeners/listeners.test.ts';
const RECEIVER_TEST = 'test/listeners/receivers/http-receiver.test.ts';
const DOORS = 'test/listeners/doors.test.ts';
const LINK_TEST = 'test/listeners/link/link.test.ts';
const INSTALL_TEST = 'test/listeners/install/install.test.ts';

/** What comes in: signatures, repeats, the order of storing and acknowledging, browsers. */
export const FRONT: readonly Mutation[] = [
  {
    name: 'signatures are not checked',
    file: SIGNED_BODY,
    from: "signature) ? body : new Refused(401, 'wrong', body)",
    to: 'signature) ? body : body',
    tests: [FRONT_DOOR],
  },
  {
    name: 'old requests are taken',
    file: SIGNED_BODY,
    from: "return Math.abs(now / 1000 - Number(timestamp)) > WINDOW_S ? 'stale' : undefined;",
    to: "return Number(timestamp) - now / 1000 > WINDOW_S ? 'stale' : undefined;",
    tests: [FRONT_DOOR],
  },
  {
    name: 'requests from the future are taken',
    file: SIGNED_BODY,
    from: 'Math.abs(now / 1000 - Number(timestamp)) > WINDOW_S',
    to: 'now / 1000 - Number(timestamp) > WINDOW_S',
    tests: [FRONT_DOOR],
  },
  {
    name: 'bodies of strangers are read before their headers are looked at',
    file: SIGNED_BODY,
    from: 'if (fault !== undefined && !isShort) return new Refused(401, fault);',
    to: 'void isShort;',
    tests: [RECEIVER_TEST],
  },
  {
    name: 'a body that says that it is too long is read',
    file: SIGNED_BODY,
    from: "if (declaredLength(request) > MAX_BODY_BYTES) return Promise.resolve(new Refused(413, 'too_large'));",
    to: '',
    tests: [RECEIVER_TEST],
  },
  {
    name: 'bodies of any size are read',
    file: SIGNED_BODY,
    from: "if (size > MAX_BODY_BYTES) end(new Refused(413, 'too_large'));",
    to: '',
    tests: [FRONT_DOOR],
    only: 'no more than a body may have',
  },
  {
    name: 'unsigned bodies take any amount of memory together',
    file: SIGNED_BODY,
    from: 'if (held <= MAX_UNVERIFIED_BYTES) break;',
    to: 'if (held > 0) break;',
    tests: ['test/process/unsigned-memory.test.ts'],
  },
  {
    name: 'a replayed request of the assistant starts another test',
    file: 'src/listeners/mcp/server.ts',
    from: 'if (tool.isChange === true && !(await isFirst(workspace, caller.requestId)))',
    to: 'if (tool.isChange === true && (await isFirst(workspace, caller.requestId)) === undefined)',
    tests: ['test/listeners/mcp.test.ts'],
    only: 'however often',
  },
  {
    name: 'browsers may keep, frame and run what they get',
    file: 'src/listeners/receivers/http-server.ts',
    from: 'for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);',
    to: 'void SECURITY_HEADERS;',
    tests: ['test/listeners/receivers/http-server.test.ts'],
  },
  {
    name: 'commands are not deduplicated by their trigger id',
    file: INBOX,
    from: 'await workspace.jobs.send(requests, request, { key: requestId });',
    to: 'await workspace.jobs.send(requests, request);',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'events are not deduplicated',
    file: INBOX,
    from: 'await workspace.jobs.send(job, event, { key: event.body.event_id });',
    to: 'await workspace.jobs.send(job, event);',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'workflow steps are not deduplicated',
    file: 'src/listeners/pipeline/run-step.ts',
    from: '{ key: execution }',
    to: '{}',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'a form is carried out again by another replica',
    file: 'src/listeners/stored-forms.ts',
    from: "(current.state === 'faulty' && current.request !== request)",
    to: 'current.request !== request',
    tests: ['test/listeners/submissions.test.ts'],
    only: 'by another replica',
  },
  {
    name: 'events are acknowledged before they are stored',
    file: 'src/listeners/receivers/process-payload.ts',
    from: 'if (!(error instanceof TypeError)) throw error;',
    to: 'if (!(error instanceof TypeError)) return acks[0];',
    tests: [RECEIVER_TEST],
    only: 'could not be stored',
  },
  {
    name: 'commands are acknowledged before they are stored',
    file: 'src/listeners/listeners.ts',
    from: 'try {\n    await inbox.store(workspace, request, handles);',
    to: 'try {\n    await ack();\n    await inbox.store(workspace, request, handles);',
    tests: ['test/errors/store.test.ts', 'test/store/full-disk.test.ts'],
  },
  {
    name: 'clicks are carried out without being stored',
    file: INBOX,
    from: 'return action?.durable === true && (',
    to: 'return action === null && (',
    tests: ['test/errors/store.test.ts'],
    only: 'before a click is stored',
  },
  {
    name: 'a form that could not be stored is acknowledged as taken',
    file: 'src/listeners/pipeline/run-submission.ts',
    from: "return ack(ackOf({ kind: 'errors', errors: {}, base }, state));",
    to: "void base;\n        return ack(ackOf({ kind: 'close' }, state));",
    tests: ['test/errors/store.test.ts'],
    only: 'before a form is stored',
  },
  {
    name: 'a form’s order is begun again after a kill',
    file: 'src/listeners/pipeline/run-submission.ts',
    from: 'isResumed && found?.submission.isOrder === true',
    to: 'isResumed && found === undefined',
    tests: ['test/process/forms.test.ts'],
  },
  {
    name: 'a state of a link comes back from any browser',
    file: LINK_INBOX,
    from: "if (!isSame(digest(cookies[stateCookie(id)] ?? ''), found.browser)) return 'other browser';",
    to: 'void cookies;',
    tests: [LINK_TEST],
  },
  {
    name: 'a link begins without the form of our page',
    file: 'src/listeners/link/routes.ts',
    from: "if (!linkRequests.isAnswer(ticket, form.get('token') ?? '', cookies)) return 'other browser';",
    to: '',
    tests: [LINK_TEST],
  },
  {
    name: 'an old "Undo" takes a later link back',
    file: 'src/records/user-links.ts',
    from: 'if (linkedAt !== undefined && (await',
    to: 'if (linkedAt === null && (await',
    tests: [LINK_TEST],
    only: 'offers to undo',
  },
  {
    name: 'a ticket links more than once',
    file: LINK,
    from: "if (!(await claim(found.ticket))) return 'used';",
    to: '',
    tests: [LINK_TEST],
  },
  {
    name: 'a state of a link counts more than once',
    file: LINK_INBOX,
    from: "if (!(await claim(id))) return 'used';",
    to: '',
    tests: [LINK_TEST],
  },
  {
    name: 'tickets and states of a link never run out',
    file: LINK_INBOX,
    from: 'clock.now() - at >= VALID_MS;',
    to: 'clock.now() < at;',
    tests: [LINK_TEST],
  },
  {
    name: 'a state of an install counts more than once',
    file: INSTALL_STATES,
    from: '(await used.get(idOf(state)))?.state === digest(state);',
    to: 'false;',
    tests: [INSTALL_TEST],
  },
  {
    name: 'a state of an install never runs out',
    file: INSTALL_STATES,
    from: "return clock.now() - at >= VALID_MS ? 'expired' : undefined;",
    to: 'return undefined;',
    tests: [INSTALL_TEST],
  },
  {
    name: 'a state of an install needs no signature',
    file: INSTALL_STATES,
    from: 'return isOurs ? Number(at) : undefined;',
    to: 'return Number(at) || Number(isOurs);',
    tests: [INSTALL_TEST],
  },
];
