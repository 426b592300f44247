import { sh } from '../support/programs.ts';
import { readMeta } from '../support/read-job.ts';
import { compare, type Scenario } from './compare.ts';

const NAMES = [
  'CE_PEER_IDLE_SECS',
  'CE_PEER_HARD_SECS',
  'CROSS_MODEL_HARD_SECS',
  'CE_PEER_LOG_MAX_BYTES',
  'CE_PEER_RESULT_MAX_BYTES',
  'CE_PEER_POLL_SECS',
  'CE_PEER_GRACE_SECS',
] as const;

type Values = Partial<Record<(typeof NAMES)[number], string>>;

/** What `start` records as in force, in the order of the contract. */
function inForce(name: string, expected: string, env: Values, skill = 's'): Scenario {
  return {
    name,
    shows: [`in force ${expected}`],
    async play(p) {
      const job = await p.settledJob(sh('true'), ['--skill', skill], { extra: env, without: NAMES });
      const { idle, hard, log_max, result_max, poll, grace } = readMeta(job.dir).supervision;
      p.say(`in force ${JSON.stringify([idle, hard, log_max, result_max, poll, grace])}`);
    },
  };
}

const all = (value: string): Values => Object.fromEntries(NAMES.map((name) => [name, value]));
const DEFAULTS = '[240,1230,10485760,5242880,2,5]';

compare('windows in force', [
  inForce('the defaults', DEFAULTS, {}),
  inForce('set ones', '[1.5,99,1000,2000,0.5,0.25]', {
    CE_PEER_IDLE_SECS: '1.5',
    CE_PEER_HARD_SECS: '99',
    CROSS_MODEL_HARD_SECS: '5000',
    CE_PEER_LOG_MAX_BYTES: '1000',
    CE_PEER_RESULT_MAX_BYTES: '2000',
    CE_PEER_POLL_SECS: '0.5',
    CE_PEER_GRACE_SECS: '.25',
  }),
  ...[
    '',
    '30abc',
    '-5',
    '0',
    'nan',
    '-inf',
    'abc',
    '0x10',
    '1,5',
    ' ',
    '--',
    '5 5',
    '-0',
    '1e',
    'e5',
    '5s',
  ].map((value) => inForce(`unusable everywhere, so the defaults: '${value}'`, DEFAULTS, all(value))),
  inForce('a fraction is no number of bytes', '[240,1230,10485760,5242880,2,5]', {
    CE_PEER_LOG_MAX_BYTES: '1.5',
    CE_PEER_RESULT_MAX_BYTES: '1e3',
  }),
  inForce('blanks around a number, a sign before it, an exponent and a bare point', '[7,100,12,13,0.5,5]', {
    CE_PEER_IDLE_SECS: ' 7 ',
    CE_PEER_HARD_SECS: '1e2',
    CE_PEER_LOG_MAX_BYTES: ' 12\n',
    CE_PEER_RESULT_MAX_BYTES: '+13',
    CE_PEER_POLL_SECS: '+.5',
    CE_PEER_GRACE_SECS: '5.',
  }),
  inForce('CROSS_MODEL_HARD_SECS widens the hard window', '[240,2030,', { CROSS_MODEL_HARD_SECS: '2000' }),
  inForce('CROSS_MODEL_HARD_SECS of 1200 is where it begins to', '[240,1230,', {
    CROSS_MODEL_HARD_SECS: '1200',
  }),
  inForce('CROSS_MODEL_HARD_SECS of 1200.5 widens by half a second', '[240,1230.5,', {
    CROSS_MODEL_HARD_SECS: '1200.5',
  }),
  inForce('CROSS_MODEL_HARD_SECS never narrows it', '[240,1230,', { CROSS_MODEL_HARD_SECS: '10' }),
  inForce('an unusable CROSS_MODEL_HARD_SECS counts as none', '[240,1230,', {
    CROSS_MODEL_HARD_SECS: '2000s',
  }),
  inForce('an unusable CE_PEER_HARD_SECS falls back to what CROSS_MODEL_HARD_SECS gives', '[240,2030,', {
    CE_PEER_HARD_SECS: 'x',
    CROSS_MODEL_HARD_SECS: '2000',
  }),
  inForce('CE_PEER_HARD_SECS wins over CROSS_MODEL_HARD_SECS, and may be short', '[240,3,', {
    CE_PEER_HARD_SECS: '3',
    CROSS_MODEL_HARD_SECS: '2000',
  }),
  inForce('an idle window of 0 is off for ce-work', '[null,1230,', { CE_PEER_IDLE_SECS: '0' }, 'ce-work'),
  inForce('an idle window of 0.0 is off for ce-work', '[null,1230,', { CE_PEER_IDLE_SECS: '0.0' }, 'ce-work'),
  inForce(
    'an idle window of 0 is unusable for another skill',
    '[240,1230,',
    { CE_PEER_IDLE_SECS: '0' },
    'ce-worker',
  ),
  inForce(
    '0 is for idle alone, even in ce-work',
    '[240,1230,10485760,5242880,2,5]',
    {
      CE_PEER_HARD_SECS: '0',
      CE_PEER_POLL_SECS: '0',
      CE_PEER_GRACE_SECS: '0',
    },
    'ce-work',
  ),
  inForce(
    'an unusable idle window is not off, even in ce-work',
    '[240,',
    { CE_PEER_IDLE_SECS: '-1' },
    'ce-work',
  ),
]);
