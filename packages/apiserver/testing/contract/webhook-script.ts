/** What the webhook of the recordings answered, by path: each case has its own, told apart by `data.k`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from './reductions.ts';

export interface WebhookAnswer {
  readonly status: number;
  /** A string goes out as it is. */
  readonly body: unknown;
}

type Script = (key: unknown, review: unknown) => WebhookAnswer | Promise<WebhookAnswer>;

/** Longer than the second that the webhook of admission/10 is given. */
const tooLong = 2000;

const scripts: Readonly<Record<string, Script>> = {
  '/h01': (key, review) => {
    const statuses: Record<string, object | undefined> = {
      msg: { message: 'no such luck' },
      code: { code: 403, reason: 'Forbidden', message: 'forbidden by rule' },
      '422': {
        code: 422,
        reason: 'Invalid',
        message: 'bad field',
        details: { causes: [{ reason: 'FieldValueInvalid', message: 'x', field: 'data.k' }] },
      },
    };
    const status = statuses[String(key)];
    return reviewed(review, { allowed: key === 'fine', ...(status === undefined ? {} : { status }) });
  },
  '/h02': (key, review) =>
    reviewed(review, {
      allowed: key === 'yes',
      warnings: ['first warning', 'second "quoted" warning'],
      ...(key === 'yes' ? {} : { status: { message: 'denied' } }),
    }),
  '/h09': (key, review) => {
    switch (key) {
      case '500':
        return { status: 500, body: 'boom' };
      case 'text':
        return { status: 200, body: '"text"' };
      case 'uid':
        return reviewed(review, { uid: '11111111-1111-1111-1111-111111111111', allowed: true });
      default:
        return { status: 200, body: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' } };
    }
  },
  '/h10': async (_key, review) => {
    await sleep(tooLong, undefined, { ref: false });
    return reviewed(review, { allowed: true });
  },
  '/h11': (_key, review) => reviewed(review, { allowed: false, status: { message: 'called' } }),
  '/h12': (_key, review) => reviewed(review, { allowed: false, status: { message: 'called' } }),
  '/h13': (key, review) => {
    if (key === 'bad') return patched(review, [{ op: 'remove', path: '/data/zz' }], 'JSONPatch');
    const operations = [
      { op: 'add', path: '/metadata/labels', value: { mutated: 'yes' } },
      { op: 'add', path: '/data/added', value: at(review, 'request', 'operation') },
    ];
    return patched(review, operations, key === 'nopt' ? undefined : 'JSONPatch');
  },
  '/h14': (_key, review) =>
    patched(review, [{ op: 'add', path: '/data', value: { 'bad key': 'x' } }], 'JSONPatch'),
  '/h15': (_key, review) =>
    patched(review, [{ op: 'add', path: '/spec/nodeSelector', value: { k: 'v' } }], 'JSONPatch'),
};

/** Allows everything that no recorded case wants otherwise. */
export async function webhookScript(path: string, review: unknown): Promise<WebhookAnswer> {
  const script = scripts[path];
  if (script === undefined) return reviewed(review, { allowed: true });
  return script(at(review, 'request', 'object', 'data', 'k'), review);
}

function patched(review: unknown, operations: readonly object[], patchType?: string): WebhookAnswer {
  return reviewed(review, {
    allowed: true,
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    patchType,
  });
}

function reviewed(review: unknown, response: Readonly<Record<string, unknown>>): WebhookAnswer {
  return {
    status: 200,
    body: {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: at(review, 'request', 'uid'), ...response },
    },
  };
}
