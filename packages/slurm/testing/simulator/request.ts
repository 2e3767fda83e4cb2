import type { ApiVersion } from '../../src/connection/api-version.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { Latency } from './simulator-latency.ts';
import type { Wire, WireFormat } from './wire-format.ts';

/** slurmctld says no, with its own number and text. */
export class SlurmRefusal extends Error {
  readonly number: number;
  /** The HTTP status when it is the same in every release; otherwise the release decides. */
  readonly status: number | undefined;

  constructor(number: number, text: string, status?: number) {
    super(text);
    this.number = number;
    this.status = status;
  }
}

/** One call on its way to an endpoint. */
export class Request {
  readonly cluster: SimulatedCluster;
  readonly format: WireFormat;
  readonly version: ApiVersion;
  readonly query: URLSearchParams;
  readonly body: Wire;
  /** The name or number in the path. */
  readonly parameter: string;
  readonly user: string;
  readonly latency: Latency;
  readonly controllerUp: boolean;
  readonly authenticated: boolean;

  constructor(fields: Omit<Request, 'isOperator' | 'requireOperator'>) {
    this.cluster = fields.cluster;
    this.format = fields.format;
    this.version = fields.version;
    this.query = fields.query;
    this.body = fields.body;
    this.parameter = fields.parameter;
    this.user = fields.user;
    this.latency = fields.latency;
    this.controllerUp = fields.controllerUp;
    this.authenticated = fields.authenticated;
  }

  get isOperator(): boolean {
    return this.user === 'slurm' || this.user === 'root' || /^0+$/.test(this.user);
  }

  requireOperator(): void {
    if (!this.isOperator) throw new SlurmRefusal(2010, 'Invalid user id');
  }
}
