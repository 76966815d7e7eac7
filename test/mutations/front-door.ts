import type { Mutation } from './mutation.ts';

const RECEIVER = 'src/listeners/receivers/http-receiver.ts';
const SIGNATURES = 'src/listeners/receivers/signatures.ts';
const REQUESTS = 'src/listeners/durable-requests.ts';
const LINK = 'src/workspace/link-requests.ts';
const STATES = 'src/workspace/browser-states.ts';
const FRONT_DOOR = 'test/listeners/listeners.test.ts';
const SIGNATURES_TEST = 'test/listeners/receivers/signatures.test.ts';
const DOORS = 'test/listeners/doors.test.ts';
const LINK_TEST = 'test/listeners/link/link.test.ts';
const INSTALL_TEST = 'test/listeners/install/install.test.ts';

/** What comes in: signatures, repeats, the order of storing and acknowledging, browsers. */
export const FRONT: readonly Mutation[] = [
  {
    name: 'signatures are not checked',
    file: SIGNATURES,
    from: "if (!isSame(signatureFor(secret, timestamp, body), signature)) return 'wrong';",
    to: 'void [isSame, signatureFor, secret, body];',
    tests: [FRONT_DOOR],
  },
  {
    name: 'old requests are taken',
    file: SIGNATURES,
    from: "if (Math.abs(clock.now() / 1000 - Number(timestamp)) > WINDOW_S) return 'stale';",
    to: '',
    tests: [FRONT_DOOR],
  },
  {
    name: 'requests from the future are taken',
    file: SIGNATURES,
    from: 'Math.abs(clock.now() / 1000 - Number(timestamp)) > WINDOW_S',
    to: 'clock.now() / 1000 - Number(timestamp) > WINDOW_S',
    tests: [FRONT_DOOR],
  },
  {
    name: 'replayed requests are taken',
    file: SIGNATURES,
    from: "return (await isNew(signature)) ? undefined : 'replayed';",
    to: 'await isNew(signature);',
    tests: [FRONT_DOOR, SIGNATURES_TEST],
  },
  {
    name: 'requests that another replica took are taken again',
    file: SIGNATURES,
    from: 'return documents.create(digest, { at }, at + VALID_MS);',
    to: 'return (await documents.create(digest, { at }, at + VALID_MS)) || true;',
    tests: [SIGNATURES_TEST],
  },
  {
    name: 'signatures are acknowledged before they are stored',
    file: SIGNATURES,
    from: 'await table.add({ digest, expires: at + VALID_MS });',
    to: 'table.add({ digest, expires: at + VALID_MS }).catch(() => undefined);',
    tests: [SIGNATURES_TEST],
  },
  {
    name: 'signatures are forgotten with the process',
    file: SIGNATURES,
    from: 'for (const { digest } of table.all()) known.add(digest);',
    to: '',
    tests: [SIGNATURES_TEST],
  },
  {
    name: 'signatures stay behind when a store moves',
    file: 'src/store/documents-table.ts',
    from: 'yield* readSignatures(db).map(documentOf);',
    to: '',
    tests: [SIGNATURES_TEST],
  },
  {
    name: 'a request that was not taken cannot be sent again',
    file: RECEIVER,
    from: 'if (!(response.headersSent && response.statusCode === 200)) await signatures.release(request);',
    to: '',
    tests: [SIGNATURES_TEST],
  },
  {
    name: 'bodies of any size are read',
    file: RECEIVER,
    from: 'if (size > MOST_BYTES) return resolve(undefined);',
    to: '',
    tests: [FRONT_DOOR],
    only: 'no more than a body may have',
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
    file: REQUESTS,
    from: 'if (await isFirst(workspace, requestId, id)) {',
    to: '{',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'events are not deduplicated',
    file: REQUESTS,
    from: 'if (await isFirst(workspace, data.body.event_id, id)) await runEvent(data);',
    to: 'void id;\n      await runEvent(data);',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'workflow steps are not deduplicated',
    file: 'src/listeners/pipeline/run-step.ts',
    from: 'if (!(await isFirst(workspace, data.execution, id))) return;',
    to: 'void [isFirst, id];',
    tests: [DOORS],
    only: 'sends twice',
  },
  {
    name: 'a request that was cut off is taken for a repeat of itself',
    file: REQUESTS,
    from: 'return standing?.job === undefined || standing.job === job;',
    to: 'return standing === undefined;',
    tests: ['test/process/kill.test.ts'],
    only: 'carries out what was acknowledged',
  },
  {
    name: 'a form is carried out again by another replica',
    file: 'src/listeners/durable-forms.ts',
    from: 'return (await claims.get(form))?.job === job ? undefined : sentAlready(state);',
    to: 'return undefined;',
    tests: ['test/listeners/submissions.test.ts'],
    only: 'two replicas stored at once',
  },
  {
    name: 'events are acknowledged before they are stored',
    file: 'src/listeners/listeners.ts',
    from: 'if (known !== undefined) await untilEnded(this.#ways, this.#store(known.keeper, known.event));\n    await event.ack();',
    to: 'await event.ack();\n    if (known !== undefined) await untilEnded(this.#ways, this.#store(known.keeper, known.event));',
    tests: [SIGNATURES_TEST],
    only: 'could not be stored',
  },
  {
    name: 'commands are acknowledged before they are stored',
    file: 'src/listeners/listeners.ts',
    from: 'try {\n    await requests.store(workspace, request, live);',
    to: 'try {\n    await ack();\n    await requests.store(workspace, request, live);',
    tests: ['test/errors/store.test.ts', 'test/store/full-disk.test.ts'],
  },
  {
    name: 'clicks are carried out without being stored',
    file: REQUESTS,
    from: 'return action?.durable === true && (',
    to: 'return action === null && (',
    tests: ['test/errors/store.test.ts'],
    only: 'before a click is stored',
  },
  {
    name: 'a form that could not be stored is acknowledged as taken',
    file: 'src/listeners/pipeline/run-submission.ts',
    from: "return ackOf({ kind: 'errors', errors: {}, base }, state);",
    to: "void base;\n    return ackOf({ kind: 'close' }, state);",
    tests: ['test/errors/store.test.ts'],
    only: 'before a form is stored',
  },
  {
    name: 'a form’s order is begun again after a kill',
    file: 'src/listeners/pipeline/run-submission.ts',
    from: 'if (form.isResumed && sent.found?.submission.isOrder)',
    to: 'if (form.isDone && sent.found?.submission.isOrder)',
    tests: ['test/process/forms.test.ts'],
  },
  {
    name: 'a state of a link comes back from any browser',
    file: STATES,
    from: "if (!isSame(digest(cookies[cookieName(id)] ?? ''), found.browser)) return 'other browser';",
    to: 'void cookies;',
    tests: [LINK_TEST, INSTALL_TEST],
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
    name: 'a state of a link or an install counts more than once',
    file: STATES,
    from: "if (!(await claim(id))) return 'used';",
    to: '',
    tests: [LINK_TEST, INSTALL_TEST],
  },
  {
    name: 'tickets and states of a link never run out',
    file: STATES,
    from: 'return now - at >= VALID_MS;',
    to: 'return now < at;',
    tests: [LINK_TEST],
  },
];
