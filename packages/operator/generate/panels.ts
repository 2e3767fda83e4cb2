/** What the dashboards are made of. */

export interface Panel {
  readonly title: string;
  readonly about: string;
  readonly kind: 'timeseries' | 'stat' | 'table';
  readonly unit?: string;
  /** By legend. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface Dashboard {
  readonly title: string;
  readonly uid: string;
  /** Row → its panels. */
  readonly rows: Readonly<Record<string, readonly Panel[]>>;
}

/** Of the variable at the top of each dashboard. */
export const select = 'namespace=~"$namespace"';
