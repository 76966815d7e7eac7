import type { Phrases } from '../phrases.ts';

const TELL = 'notify|alert|tell|remind|warn|inform|message|ping|page|post|update|mention';
const WHEN = 'when|if|whenever|once|as|that';
const FAILS =
  'fails|fail|failed|breaks|break|crashes|crash|dies|errors|failing|broken|down|unreachable|stops';
const BEGINS = 'goes|is|gets|are|turns|starts|becomes|deployment|deployments|deploys|builds';
const SHIPS = 'deploys|deployed|ships|changes|succeeds|finishes|releases|deploy|updates|updated|done';
/** Sentences for `watch`. */
export const WATCH_PHRASES: Phrases = {
  'follow|track|subscribe to? all|every projects|project': 'all',
  'follow|track|watch|subscribe to|for|over|out|on? +': '$1',
  'add|create|new|start|set watch|alert|alerts|watching|following for|of|on|up? +': '$1',
  'keep an? eye on? +': '$1',
  'watch|follow|subscribe|post failures|failed|errors|failure of|for|in|on +': '$1 failures',
  [`${TELL} @ ${WHEN} + ${BEGINS}? ${FAILS} *`]: '$2 failures --mention $1',
  [`${TELL} @ about|of|on|for + failures?`]: '$2 failures --mention $1',
  [`${TELL} me ${WHEN} + ${BEGINS}? ${FAILS} *`]: '$1 failures --mention me',
  [`${TELL} me about|of|on|for +`]: '$1 failures --mention me',
  'be|get|stay notified|alerted|told|informed|warned|messaged about|of|on|when|if? +':
    '$1 failures --mention me',
  [`let me know ${WHEN}|about|of + ${BEGINS}? ${FAILS} *`]: '$1 failures --mention me',
  [`${TELL} us|everyone|everybody|here|channel|team|people|to? ${WHEN} + ${BEGINS}? ${FAILS} *`]:
    '$1 failures',
  [`${TELL} us|everyone|everybody|here|channel|team|people? about|of|on|for +`]: '$1 failures',
  [`let us|everyone know ${WHEN}|about|of + ${BEGINS}? ${FAILS} *`]: '$1 failures',
  [`${TELL} us|me|everyone|here|channel|team? ${WHEN} + ${BEGINS}? ${SHIPS} *`]: '$1 all',
  [`let us|me know ${WHEN} + ${BEGINS}? ${SHIPS} *`]: '$1 all',
  [`${TELL} ${WHEN} + ${BEGINS}? ${FAILS} *`]: '$1 failures',
  'failures|alerts|notifications|updates|deployments for|of|on|from + here|now': '$1 failures',
};
