/** What a simulated slurmdbd keeps, in the words of the wire. */
export interface Accounts {
  readonly accounts: Map<string, Record<string, unknown>>;
  readonly users: Map<string, Record<string, unknown>>;
  readonly associations: Map<string, Record<string, unknown>>;
  readonly qos: Map<string, Record<string, unknown>>;
}

export function emptyAccounts(): Accounts {
  return {
    accounts: new Map([['root', account('root', 'default root account', 'root')]]),
    users: new Map([['root', { ...user('root'), administrator_level: ['Administrator'] }]]),
    associations: new Map([['root//', association({ account: 'root', user: '' })]]),
    qos: new Map([['normal', qos('normal', 'Normal QOS default', 1)]]),
  };
}

export function account(name: string, description = '', organization = ''): Record<string, unknown> {
  return { associations: [], coordinators: [], description, name, organization, flags: [] };
}

/** The default account comes back empty, as the real one answers it. */
export function user(name: string): Record<string, unknown> {
  return {
    administrator_level: ['None'],
    associations: [],
    coordinators: [],
    default: { account: '', wckey: '' },
    flags: ['NONE'],
    name,
    old_name: '',
    wckeys: [],
  };
}

export function association(fields: {
  account: string;
  user?: string;
  cluster?: string;
  partition?: string;
}) {
  const none = { set: false, infinite: true, number: 0 };
  const jobs = { per: { count: none, accruing: none, submitted: none, wall_clock: none } };
  return {
    accounting: [],
    account: fields.account,
    cluster: fields.cluster ?? 'mini',
    comment: '',
    default: { qos: '' },
    flags: [],
    is_default: true,
    max: {
      jobs: { ...jobs, active: none, accruing: none, total: none },
      tres: {
        total: [],
        group: { minutes: [], active: [] },
        minutes: { total: [], per: { job: [] } },
        per: { job: [], node: [] },
      },
      per: { account: { wall_clock: none } },
    },
    min: { priority_threshold: none },
    parent_account: '',
    partition: fields.partition ?? '',
    priority: none,
    qos: ['normal'],
    shares_raw: 1,
    user: fields.user ?? '',
  };
}

export function qos(name: string, description = '', id = 0): Record<string, unknown> {
  return {
    description,
    flags: [],
    id,
    limits: { grace_time: 0 },
    name,
    preempt: { list: [], mode: ['DISABLED'] },
    priority: { set: true, infinite: false, number: 0 },
    usage_factor: { set: true, infinite: false, number: 1 },
  };
}

export const tres = ['cpu', 'mem', 'energy', 'node', 'billing'].map((type, index) => ({
  type,
  name: '',
  id: index + 1,
  count: 0,
}));
