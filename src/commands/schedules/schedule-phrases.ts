import type { ScheduleKind } from '../../records/schedules.ts';
import type { Phrases } from '../phrases.ts';

/** Words for schedules of a kind. The others have the kind's own name. */
const NOUNS: Readonly<Partial<Record<ScheduleKind, string>>> = {
  digest: 'digest|digests|report|reports|summary|reminder|reminders',
  guard: 'guard|guards|monitor|monitors|monitoring|guarding',
  watch: 'watch|watches|watching|alerts|notifications|subscription|subscriptions|following',
};

type Verb = 'list' | 'pause' | 'resume' | 'edit' | 'remove';

/** Sentences for the commands of a kind of schedule. */
export function schedulePhrases(kind: ScheduleKind, verb: Verb): Phrases {
  const noun = NOUNS[kind] ?? kind;
  if (kind === 'invoices') return {};
  switch (verb) {
    case 'list':
      return {
        [`list|show|get|see|all|my|which|what|every ${noun} *`]: '',
        [`${noun} list|show|all|status|here`]: '',
        [`the|our + ${kind}`]: '',
        [`remove|delete|stop|end|cancel|drop|kill|clear all|every of? the|my|our? ${noun} *`]: '',
        [`is|are|do|does|has|have the|our|there|any|we|you|a|this? have|get? a|any|the? ${noun} *`]: '',
        [`next|upcoming ${noun}`]: '',
        [`when is|are|does|do|comes the|our|a? next? ${noun} *`]: '',
        ...(kind === 'guard'
          ? {
              'when is|are|comes the|our? next test|check|tests|checks *': '',
              'when do|does|will you|it|deckhand test|check *': '',
            }
          : {}),
        ...(kind === 'watch'
          ? {
              'who|what is? watches|follows|watching|following|watched|followed *': '',
              'what are|do|is we|you|i|here watch|watching|follow|following|watched *': '',
              'watching|following|tracking': '',
            }
          : {}),
      };
    case 'pause':
      return {
        [`pause|suspend|hold|disable|freeze ${noun} of|for|on? *`]: '$1',
        [`turn|switch ${noun} off *`]: '$1',
        [`turn|switch off ${noun} *`]: '$1',
        [`${noun} off|suspend|disable *`]: '$1',
        [`no|enough more? ${noun} *`]: '',
      };
    case 'edit':
      return {
        [`${CHANGE} the|our|my? ${kind} of|for|on? *`]: '$1',
        [`${CHANGE} the|our|my? ${kind} to|at *`]: '',
        [`${CHANGE} time|times|hour|hours|day|days|zone|timezone|mention|mentions|servers|frequency of|for? ${kind} *`]:
          '$1',
      };
    case 'resume':
      return {
        [`resume|unpause|continue|enable|restart|reactivate|unfreeze ${noun} of|for|on? *`]: '$1',
        [`turn|switch ${noun} back? on *`]: '$1',
        [`turn|switch on ${noun} *`]: '$1',
        [`${noun} on|unpause|enable|continue|restart *`]: '$1',
      };
    case 'remove':
      return {
        [`remove|delete|stop|end|cancel|drop|kill|quit daily|weekly|hourly? ${noun} of|for|on? *`]: '$1',
        [`${noun} cancel|end|kill|drop *`]: '$1',
        ...(kind === 'watch' ? UNWATCH : kind === 'guard' ? { 'unguard|unmonitor *': '$1' } : {}),
      };
  }
}

const CHANGE = 'edit|change|modify|adjust|alter|update|move|reschedule';

const UNWATCH = {
  'stop|quit|end watching|following|tracking everything|all *': 'all',
  'unwatch|unfollow|unsubscribe|untrack from|to|of? *': '$1',
  'unwatch|unfollow|unsubscribe + failures|failure|transitions|deployments|deploys|events|alerts|notifications|updates':
    '$1',
  'stop|quit|end watching|following|tracking|posting|notifying|alerting|telling|messaging us|everyone? about|for|of|on? *':
    '$1',
  'do|never|no not|longer? watch|follow|track|notify|alert|post|tell us|everyone? about|for|of? +': '$1',
};
