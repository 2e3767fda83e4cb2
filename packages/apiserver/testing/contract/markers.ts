/**
 * When configuration takes effect. A real server follows roles, webhooks, policies and definitions through informers, each
 * in the order of writes: once a marker of the same kind, written later, shows its effect, what was written before has its own.
 * A marker concerns nothing but requests made to see it, and these store nothing.
 */
import type { CallAnswer, Caller } from './backend.ts';
import { eventually } from './eventually.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** How long a server may take to follow its configuration. */
const deadline = 60_000;

export class Markers {
  readonly #caller: Caller;
  readonly #id: string;
  #count = 0;
  #hasDefinition = false;

  private constructor(caller: Caller, id: string) {
    this.#caller = caller;
    this.#id = id;
  }

  static async start(caller: Caller, id: string): Promise<Markers> {
    const markers = new Markers(caller, id);
    const metadata = { name: markers.#namespace };
    await markers.#write('POST', '/api/v1/namespaces', { metadata });
    const accounts = `/api/v1/namespaces/${markers.#namespace}/serviceaccounts`;
    await markers.#write('POST', accounts, { metadata: { name: 'marker' } });
    return markers;
  }

  get #namespace(): string {
    return `contract-marker-${this.#id}`;
  }

  /** After a write that succeeded: returns when the server acts upon it. */
  async settle(path: string): Promise<void> {
    const resource = path.split('?')[0] ?? '';
    const name = `contract-marker-${this.#id}-${++this.#count}`;
    const kind = /\/(validating|mutating)webhookconfigurations\b/.exec(resource)?.[1];
    if (kind !== undefined) await this.#webhook(kind as 'validating' | 'mutating', name);
    else if (/\/validatingadmissionpolic(?:ies|ybindings)\b/.test(resource)) await this.#policy(name);
    else if (/^\/apis\/rbac\.[^/]+\/v1\/(?:clusterroles|clusterrolebindings)\b/.test(resource))
      await this.#clusterRole(name);
    else if (/^\/apis\/rbac\..*\/(?:roles|rolebindings)\b/.test(resource)) await this.#role(name);
    else if (/\/customresourcedefinitions\b/.test(resource)) await this.#definition();
    else if (/\/priorityclasses\b/.test(resource)) await this.#priorityClass(name);
    else if (/^\/api\/v1\/namespaces\/[^/]+$/.test(resource)) await this.#namespaceLabel();
  }

  async stop(): Promise<void> {
    if (this.#hasDefinition)
      await this.#caller.call({ method: 'DELETE', path: `${definitions}/${this.#plural}` });
    await this.#caller.call({ method: 'DELETE', path: `/api/v1/namespaces/${this.#namespace}` });
  }

  async #webhook(kind: 'validating' | 'mutating', name: string): Promise<void> {
    const path = `${admission}/${kind}webhookconfigurations`;
    await this.#write('POST', path, {
      metadata: { name },
      webhooks: [
        {
          name: 'marker.example.org',
          // Nothing listens there, so the request that the webhook is called for is refused.
          clientConfig: { url: 'https://127.0.0.1:1/' },
          rules: [configMapsCreated],
          objectSelector: { matchLabels: { 'contract-marker': name } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          timeoutSeconds: 1,
        },
      ],
    });
    await this.#refused(name, /failed calling webhook \\"marker\.example\.org\\"/);
    await this.#caller.call({ method: 'DELETE', path: `${path}/${name}` });
  }

  async #policy(name: string): Promise<void> {
    const path = `${admission}/validatingadmissionpolic`;
    await this.#write('POST', `${path}ies`, {
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [configMapsCreated],
          objectSelector: { matchLabels: { 'contract-marker': name } },
        },
        validations: [{ expression: 'false' }],
      },
    });
    await this.#write('POST', `${path}ybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    });
    await this.#refused(name, new RegExp(`ValidatingAdmissionPolicy '${name}'`));
    await this.#caller.call({ method: 'DELETE', path: `${path}ybindings/${name}` });
    await this.#caller.call({ method: 'DELETE', path: `${path}ies/${name}` });
  }

  async #role(name: string): Promise<void> {
    const path = `${rbac}/namespaces/${this.#namespace}`;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await this.#write('POST', `${path}/roles`, { metadata: { name }, rules });
    await this.#write('POST', `${path}/rolebindings`, binding('Role', name));
    await this.#allowed(name, `/api/v1/namespaces/${this.#namespace}/configmaps`);
  }

  async #clusterRole(name: string): Promise<void> {
    const rules = [{ nonResourceURLs: [`/${name}`], verbs: ['get'] }];
    await this.#write('POST', `${rbac}/clusterroles`, { metadata: { name }, rules });
    await this.#write('POST', `${rbac}/clusterrolebindings`, binding('ClusterRole', name));
    // Allowed means 404: there is no such path.
    await this.#allowed(name, `/${name}`);
    await this.#caller.call({ method: 'DELETE', path: `${rbac}/clusterrolebindings/${name}` });
    await this.#caller.call({ method: 'DELETE', path: `${rbac}/clusterroles/${name}` });
  }

  async #priorityClass(name: string): Promise<void> {
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await this.#write('POST', path, { metadata: { name }, value: 1 });
    const spec = { ...podSpec, serviceAccountName: 'marker', priorityClassName: name };
    const pods = `/api/v1/namespaces/${this.#namespace}/pods?dryRun=All`;
    await eventually(
      `PriorityClass ${name} is known to admission`,
      async () => {
        const body = { metadata: { name: 'marker' }, spec };
        const { text } = await this.#caller.call({ method: 'POST', path: pods, body });
        return !text.includes('no PriorityClass with name');
      },
      { deadline },
    );
    await this.#caller.call({ method: 'DELETE', path: `${path}/${name}` });
  }

  get #plural(): string {
    return `markers.${this.#id}.contract-marker.example.org`;
  }

  /** OpenAPI follows definitions in their order, after the handler that serves them. */
  async #definition(): Promise<void> {
    const text = `marker ${this.#count}`;
    const schema = { openAPIV3Schema: { type: 'object', description: text } };
    const version = { name: 'v1', served: true, storage: true, schema };
    const group = `${this.#id}.contract-marker.example.org`;
    if (this.#hasDefinition) {
      const patch = [{ op: 'replace', path: '/spec/versions/0', value: version }];
      await this.#write('PATCH', `${definitions}/${this.#plural}`, patch, 'application/json-patch+json');
    } else {
      this.#hasDefinition = true;
      const names = { plural: 'markers', singular: 'marker', kind: 'Marker', listKind: 'MarkerList' };
      const spec = { group, scope: 'Cluster', names, versions: [version] };
      await this.#write('POST', definitions, { metadata: { name: this.#plural }, spec });
    }
    await eventually(
      `${definitions}: a changed definition shows in OpenAPI`,
      async () => (await this.#get(`/openapi/v3/apis/${group}/v1`)).text.includes(text),
      { deadline },
    );
  }

  /** Pod security reads the labels of the cached namespace. */
  async #namespaceLabel(): Promise<void> {
    const path = `/api/v1/namespaces/${this.#namespace}`;
    const label = 'pod-security.kubernetes.io/warn';
    const level = this.#count % 2 === 0 ? 'restricted' : 'privileged';
    const labels = { metadata: { labels: { [label]: level } } };
    await this.#write('PATCH', path, labels, 'application/merge-patch+json');
    const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
    const body = { metadata: { name: 'marker' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    await eventually(
      `${path}: a changed label is seen by admission`,
      async () => {
        const deployments = `/apis/apps/v1/namespaces/${this.#namespace}/deployments?dryRun=All`;
        const answer = await this.#caller.call({ method: 'POST', path: deployments, body });
        const warned = (answer.headers['warning'] ?? []).some((text) => text.includes('PodSecurity'));
        return warned === (level === 'restricted');
      },
      { deadline },
    );
  }

  async #refused(name: string, text: RegExp): Promise<void> {
    const body = { metadata: { name: 'marker', labels: { 'contract-marker': name } } };
    const path = `/api/v1/namespaces/${this.#namespace}/configmaps?dryRun=All`;
    await eventually(
      `${name} refuses the request that it is for`,
      async () => text.test((await this.#caller.call({ method: 'POST', path, body })).text),
      { deadline },
    );
  }

  async #allowed(user: string, path: string): Promise<void> {
    const headers = { 'impersonate-user': user };
    await eventually(
      `user ${user} may do what its role says`,
      async () => (await this.#caller.call({ method: 'GET', path, headers })).status !== 403,
      { deadline },
    );
  }

  #get(path: string): Promise<CallAnswer> {
    return this.#caller.call({ method: 'GET', path });
  }

  async #write(method: string, path: string, body: object, type = 'application/json'): Promise<void> {
    const sent = method === 'POST' ? { ...typeOf(path), ...body } : body;
    const answer = await this.#caller.call({ method, path, headers: { 'content-type': type }, body: sent });
    if (answer.status >= 300) throw new Error(`cannot write a marker to ${path}: ${answer.text}`);
  }
}

const configMapsCreated = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['configmaps'],
};

const podSpec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] };

const kinds: Readonly<Record<string, string>> = {
  namespaces: 'Namespace',
  serviceaccounts: 'ServiceAccount',
  priorityclasses: 'PriorityClass',
  validatingwebhookconfigurations: 'ValidatingWebhookConfiguration',
  mutatingwebhookconfigurations: 'MutatingWebhookConfiguration',
  validatingadmissionpolicies: 'ValidatingAdmissionPolicy',
  validatingadmissionpolicybindings: 'ValidatingAdmissionPolicyBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  customresourcedefinitions: 'CustomResourceDefinition',
};

function typeOf(path: string): { apiVersion: string; kind: string | undefined } {
  const apiVersion = /^\/api(?:s\/([^/]+))?\/v1/.exec(path)?.[1];
  return {
    apiVersion: apiVersion === undefined ? 'v1' : `${apiVersion}/v1`,
    kind: kinds[path.split('/').at(-1) ?? ''],
  };
}

function binding(kind: 'Role' | 'ClusterRole', name: string): object {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    metadata: { name },
    roleRef: { apiGroup, kind, name },
    subjects: [{ apiGroup, kind: 'User', name }],
  };
}
